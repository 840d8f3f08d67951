import t from 'tap'
import { readSince, UsageError } from './command.ts'

const now = Date.parse('2026-11-20T12:00:00Z')

t.test('--since takes a time with any offset', async (t) => {
  for (const text of ['2026-11-19T12:00:00Z', '2026-11-19T13:00:00+01:00', '2026-11-19T06:30:00.000-05:30'])
    t.equal(new Date(readSince(text, now)).toISOString(), '2026-11-19T12:00:00.000Z', text)
  t.equal(readSince('2026-11-20T12:00:00Z', now), now, 'the current time is not in the future')
})

t.test('--since takes a duration before now', async (t) => {
  for (const text of ['24h', '1d', '1440m', '86400s'])
    t.equal(new Date(readSince(text, now)).toISOString(), '2026-11-19T12:00:00.000Z', text)
  t.equal(new Date(readSince('30d', now)).toISOString(), '2026-10-21T12:00:00.000Z')
})

t.test('--since rejects invalid and future times', async (t) => {
  const nonsense = ['', 'yesterday', '24', '-1h', '1.5h', '3w', '1d12h', '2026', '2026-11-01', '2026-11-01T00:00:00']
  const impossible = ['2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', '2026-11-01T25:00:00Z', '2026-11-01T23:59:60Z']
  for (const text of [...nonsense, ...impossible])
    t.throws(() => readSince(text, now), { name: 'UsageError', message: /^--since must be/ }, text)
  t.throws(() => readSince('2026-11-20T12:00:01Z', now), new UsageError('--since is in the future'))
  t.throws(() => readSince('later', now, '--until'), { message: /^--until must be/ })
  t.throws(() => readSince('2026-11-20T12:00:01Z', now, '--until'), new UsageError('--until is in the future'))
})
