#!lua
-- Appends frames to a turn and tells its readers, if the caller still owns it and knows where it ends.
-- KEYS: the turn, its frames, its channel.
-- ARGV: log, epoch, offset of the first frame, status and content type (or ''), end (or ''), how to publish,
--       milliseconds to live while open, of the frames after the end, of the turn after the end; then the frames.
-- An end that readers must not see yet is held back if there is nothing to publish with, and then shown by another call,
-- whose ARGV are only: log, epoch, how to publish.
local ARGV, publish = ARGV, ARGV[7]
local turn = redis.call('HMGET', KEYS[1], 'log', 'epoch', 'last', 'end', 'bytes', 'held')
if not turn[1] then return {'gone'} end
if turn[1] ~= ARGV[1] or turn[2] ~= ARGV[2] then return {'fenced'} end
if #ARGV == 3 then
  if turn[4] then return {'ok'} end
  if not turn[6] then return {'tail', turn[3]} end
  publish, ARGV = ARGV[3], cmsgpack.unpack(turn[6])
end
local last, first, count = tonumber(turn[3]), tonumber(ARGV[3]), #ARGV - 10
if turn[4] then
  -- The same end again, whose answer was lost.
  if turn[4] == ARGV[6] and first + count == last + 1 then return {'ok', 'shown'} end
  return {'closed'}
end
if first ~= last + 1 then return {'tail', turn[3]} end
local generation = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
if publish == '' then
  local held = cmsgpack.pack(ARGV)
  if held ~= turn[6] then
    redis.call('HSET', KEYS[1], 'held', held, 'generation', generation)
    redis.call('HDEL', KEYS[1], 'place')
  end
  return {'ok'}
end

local function add(offset, frame, call)
  return call('XADD', KEYS[2], string.format('%d-0', offset), 'f', frame)
end
local bytes, lengths = tonumber(turn[5]), {}
for i = 11, #ARGV do
  local added = add(last + i - 10, ARGV[i], i == 11 and redis.pcall or redis.call)
  if type(added) == 'table' then
    -- A server that ended within an append may have kept its frames without the rest of it. They were not acknowledged.
    local frames = redis.call('XRANGE', KEYS[2], '-', turn[3] .. '-0')
    redis.call('DEL', KEYS[2])
    for offset, entry in ipairs(frames) do add(offset, entry[2][2], redis.call) end
    add(last + i - 10, ARGV[i], redis.call)
    redis.call('PEXPIRE', KEYS[2], ARGV[8])
  end
  lengths[i - 10] = #ARGV[i]
end
local size = 0
for i = 1, count do size = size + lengths[i] end
redis.call('HSET', KEYS[1], 'last', string.format('%d', last + count), 'bytes', string.format('%d', bytes + size),
  'generation', generation)
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], 'status', ARGV[4], 'type', ARGV[5]) end
if last == 0 and count > 0 then redis.call('PEXPIRE', KEYS[2], ARGV[8]) end
if ARGV[6] ~= '' then
  redis.call('HSET', KEYS[1], 'end', ARGV[6])
  redis.call('HDEL', KEYS[1], 'held', 'place')
  redis.call('PEXPIRE', KEYS[2], ARGV[9])
  redis.call('PEXPIRE', KEYS[1], ARGV[10])
end

local hint = ''
if ARGV[6] == '' and ARGV[4] == '' and size <= 65536 then
  hint = ARGV[1] .. ' ' .. ARGV[3] .. ' ' .. table.concat(lengths, ' ') .. '\n' .. table.concat(ARGV, '', 11)
end
redis.call(publish, KEYS[3], hint)
return {'ok'}
