import t from 'tap'
import { formatDuration, formatTime, fromTimeField, toTimeField, zoneName } from './time.ts'

process.env.TZ = 'America/St_Johns'
const winter = '2026-01-31T12:00:00.123Z'
const summer = '2026-07-31T23:59:59.000Z'

t.test('a time is shown in UTC and in the zone of the reader', async (t) => {
  t.equal(formatTime(winter, 'utc'), '2026-01-31 12:00:00')
  t.equal(formatTime(winter, 'local'), '2026-01-31 08:30:00')
  t.equal(formatTime(summer, 'local'), '2026-07-31 21:29:59')
  t.equal(formatTime('2026-01-01T00:00:00Z', 'utc'), '2026-01-01 00:00:00', 'midnight is hour 0')
  t.equal(formatTime('no time', 'utc'), 'no time')
  t.same(
    [zoneName(winter, 'utc'), zoneName(winter, 'local'), zoneName(summer, 'local')],
    ['UTC', 'UTC-3:30', 'UTC-2:30'],
  )
})

t.test('a time field keeps the milliseconds and the zone of its value', async (t) => {
  for (const zone of ['utc', 'local'] as const) {
    for (const time of [winter, summer]) t.equal(fromTimeField(toTimeField(time, zone), zone), time, zone)
  }
  t.equal(toTimeField(winter, 'local'), '2026-01-31T08:30:00.123')
  t.equal(fromTimeField('2026-01-31T12:00', 'utc'), '2026-01-31T12:00:00.000Z')
  for (const incomplete of ['', '2026-01-31', '2026-13-31T12:00', 'now'])
    t.equal(fromTimeField(incomplete, 'utc'), null)
})

t.test('a duration has at most two units', async (t) => {
  const shown = [0, 4.26, 45, 119, 720, 12_000, 10_800, 187_200].map(formatDuration)
  t.same(shown, ['0 s', '4.3 s', '45 s', '119 s', '12 min', '3 h 20 min', '3 h', '2 d 4 h'])
})
