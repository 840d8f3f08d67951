import t from 'tap'
import { reasonOf } from './reason.ts'

t.test('a reason is plain ASCII or percent-encoded UTF-8; without one it is null', async (t) => {
  const reasons = {
    'Ticket 4711': 'Ticket 4711',
    ' double%20charge ': 'double charge',
    '%C3%BCberzahlt%20%F0%9F%98%80': 'überzahlt 😀',
    [encodeURIComponent('ü'.repeat(500))]: 'ü'.repeat(500),
    '': null,
    '%20': null,
  }
  for (const [text, reason] of Object.entries(reasons)) t.equal(reasonOf({ 'x-reason': text }), reason, text)
  t.equal(reasonOf({}), null)
})

t.test('a malformed reason, one that is too long and one with control characters are 400', async (t) => {
  for (const text of ['100 %', '%C3', '%ED%A0%80', 'Ã¼ber', '%00', 'two%0Alines', 'x'.repeat(501)])
    t.throws(() => reasonOf({ 'x-reason': text }), { code: 'invalid_request', message: /x-reason must/ }, text)
})
