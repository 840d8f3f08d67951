import t from 'tap'
import { fieldsOf, intervalOf, periodOf, periodOfInterval, periodText, presetsAt } from './period.ts'

const none = { fromDay: '', fromTime: '', toDay: '', toTime: '' }
const november = { ...none, fromDay: '2026-11-01', toDay: '2026-11-30' }

t.test('a period of days includes its first millisecond and its last day', async (t) => {
  const period = periodOf(november, 'utc')
  t.same(period, { from: '2026-10-31T23:59:59.999Z', to: '2026-12-01T00:00:00.000Z' })
  t.same(fieldsOf(period, 'utc'), november)
  t.equal(periodText(period, 'utc'), '2026-11-01 to 2026-11-30')
})

t.test('a period with times ends before its last time', async (t) => {
  const fields = { fromDay: '2026-11-30', fromTime: '09:30', toDay: '2026-11-30', toTime: '10:00' }
  const period = periodOf(fields, 'utc')
  t.same(period, { from: '2026-11-30T09:29:59.999Z', to: '2026-11-30T10:00:00.000Z' })
  t.same(fieldsOf(period, 'utc'), fields)
  t.equal(periodText(period, 'utc'), '2026-11-30 09:30 to 2026-11-30 10:00')
})

t.test('a period may be open at either end, and a single day has one date', async (t) => {
  t.same(periodOf(none, 'utc'), { from: undefined, to: undefined })
  t.equal(periodText(periodOf({ ...none, fromDay: '2026-11-02' }, 'utc'), 'utc'), 'since 2026-11-02')
  t.equal(periodText(periodOf({ ...none, toDay: '2026-11-02' }, 'utc'), 'utc'), 'until 2026-11-02')
  t.equal(periodText(periodOf({ ...none, fromDay: '2026-11-02', toDay: '2026-11-02' }, 'utc'), 'utc'), '2026-11-02')
  t.same(periodOf({ ...none, fromDay: 'x' }, 'utc').from, undefined)
})

t.test('presets are whole days and months of the zone', async (t) => {
  const presets = presetsAt(Date.parse('2026-03-01T12:00:00Z'), 'utc')
  const textOf = (label: string) => periodText(presets.find((preset) => preset.label === label)?.period ?? {}, 'utc')
  t.equal(textOf('Today'), 'since 2026-03-01')
  t.equal(textOf('Yesterday'), '2026-02-28')
  t.equal(textOf('Last 7 days'), 'since 2026-02-23')
  t.equal(textOf('Last month'), '2026-02-01 to 2026-02-28')
  t.equal(textOf('Last hour'), 'since 2026-03-01 11:00')
})

t.test('a period is one parameter, in which its beginning is included', async (t) => {
  const period = periodOf(november, 'utc')
  t.equal(intervalOf(period), '2026-11-01T00:00:00.000Z/2026-12-01T00:00:00.000Z')
  for (const each of [period, { ...period, to: undefined }, { ...period, from: undefined }])
    t.same(periodOfInterval(intervalOf(each)), each)
  t.equal(intervalOf({}), undefined)
  for (const text of [undefined, '', 'x', 'x/y'])
    t.same(periodOfInterval(text), { from: undefined, to: undefined }, String(text))
})
