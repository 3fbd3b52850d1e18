/* A struct with strings. A function may shorten a string by `num`; `data` and `max` belong to the host. */
#include <stdint.h>
#include <uchar.h>

#pragma pack(4)
struct FString {
    char16_t *data;
    int32_t num;
    int32_t max;
};

struct MyPlayerStruct {
    struct FString player_name;
    struct FString player_password;
    float health;
    float score;
};

/* Truncates the name after three letters, clears the password, and adds a point for each removed letter. */
void Login(struct MyPlayerStruct *player) {
    struct FString *name = &player->player_name;
    if (name->num > 4) {
        player->score += (float)(name->num - 4);
        name->data[3] = 0;
        name->num = 4;
    }
    for (int32_t i = 0; i + 1 < player->player_password.num; i++) player->player_password.data[i] = '*';
    player->health = 100;
}
