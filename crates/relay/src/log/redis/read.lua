#!lua flags=no-writes
-- The frames after an offset, as many as have so many bytes together, but at least one.
-- KEYS: the turn, its frames. ARGV: the offset, the bytes.
local last = redis.call('HGET', KEYS[1], 'last')
if not last then return {'gone'} end
local answer, size, limit, from = {'ok'}, 0, tonumber(ARGV[2]), '(' .. ARGV[1] .. '-0'
while true do
  local page = redis.call('XRANGE', KEYS[2], from, last .. '-0', 'COUNT', 32)
  for _, entry in ipairs(page) do
    size = size + #entry[2][2]
    if #answer > 1 and size > limit then return answer end
    answer[#answer + 1] = entry[2][2]
    from = '(' .. entry[1]
  end
  if #page < 32 then return answer end
end
