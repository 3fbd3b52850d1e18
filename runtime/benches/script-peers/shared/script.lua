-- Functions that the benchmarks measure, for Lua 5.4 and LuaJIT.
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

-- Represents each vector as a table with operators, like a library of vectors.
local vector = {}
vector.__index = vector
local function new(x, y, z) return setmetatable({ x = x, y = y, z = z }, vector) end
vector.__add = function(a, b) return new(a.x + b.x, a.y + b.y, a.z + b.z) end
vector.__sub = function(a, b) return new(a.x - b.x, a.y - b.y, a.z - b.z) end
vector.__mul = function(a, by) return new(a.x * by, a.y * by, a.z * by) end
function vector.dot(a, b) return a.x * b.x + a.y * b.y + a.z * b.z end

function vectors(n)
  local at, by, sum = new(0, 0, 0), new(1, 2, 3), 0
  for i = 1, n do
    at = at + by * 0.5
    sum = sum + at:dot(by)
    at = at - by * 0.25
  end
  return sum
end
