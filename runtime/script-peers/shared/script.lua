-- What the benchmarks run, for Lua 5.4 and LuaJIT alike.
function looping(n)
  local s = 0
  for i = 0, n - 1 do s = (s * 31 + i) % 65536 end
  return s
end

function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end

local robot = { energy = 0 }
function property(n)
  for i = 1, n do robot.energy = robot.energy + 1 end
end

function native_call(n)
  local s, add = 0, add
  for i = 0, n - 1 do s = add(s, i) % 65536 end
  return s
end

local rows = {}
function fill(n)
  for i = 1, n do rows[i] = { weight = (i - 1) * 0.5, value = (i - 1) % 1000, size = i - 1 } end
end

function average()
  local sum = 0
  for i = 1, #rows do sum = sum + rows[i].weight end
  return sum / #rows
end
