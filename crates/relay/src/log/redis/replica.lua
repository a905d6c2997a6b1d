#!lua flags=allow-oom
-- Whether a replica has the turn as it was when this was first asked: replicas say which place of the server's history they
-- have reached. The place to be reached is noted with the turn, so that any relay can ask.
-- KEYS: the turn.
local turn = redis.call('HMGET', KEYS[1], 'log', 'generation', 'place')
if not turn[1] then return {'gone'} end
local info = redis.call('INFO', 'replication')
-- This server was the replica.
if turn[2] == string.match(info, 'master_replid2:(%x+)') then return {'ok', 'yes'} end
local generation = string.match(info, 'master_replid:(%x+)')
local history, place = string.match(turn[3] or '', '(%x+) (%d+)')
if history ~= generation then
  redis.call('HSET', KEYS[1], 'place', generation .. ' ' .. string.match(info, 'master_repl_offset:(%d+)'))
  return {'ok'}
end
for reached in string.gmatch(info, 'state=online,offset=(%d+)') do
  if tonumber(reached) >= tonumber(place) then return {'ok', 'yes'} end
end
return {'ok'}
