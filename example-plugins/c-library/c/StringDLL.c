/* A struct with texts in it. A text may become shorter, and `num` says so; `data` and `max` are the host's. */
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

/* Cuts the name after three letters, wipes the password, and gives a point for each letter that was left out. */
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
