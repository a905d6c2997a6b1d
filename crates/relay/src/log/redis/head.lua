#!lua flags=no-writes
-- Where a turn is. KEYS: the turn, its frames.
local turn = redis.call('HMGET', KEYS[1], 'log', 'epoch', 'last', 'bytes', 'beats', 'status', 'type', 'end', 'session', 'request',
  'upstream', 'subject', 'turn')
if not turn[1] then return {'gone'} end
local answer = {'ok', redis.call('EXISTS', KEYS[2]) == 1 and '1' or '0'}
-- Bare values would end the list at the first one that is missing.
for i = 1, 13 do answer[i + 2] = turn[i] and '=' .. turn[i] or '' end
return answer
