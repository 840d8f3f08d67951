import t from 'tap'
import {
  dayIn,
  daysOfMonth,
  daysText,
  lastDayOf,
  monthAfter,
  monthOf,
  readDays,
  recentDays,
  recentMonths,
} from './days.ts'

t.test('a month is its days, over the ends of years and in leap years', async (t) => {
  t.same(daysOfMonth('2026-12'), { from: '2026-12-01', to: '2027-01-01' })
  t.equal(lastDayOf(daysOfMonth('2028-02')), '2028-02-29')
  t.equal(monthAfter('2026-01', -1), '2025-12')
  t.equal(monthOf({ from: '2026-02-01', to: '2026-03-01' }), '2026-02')
  t.equal(monthOf({ from: '2026-02-01', to: '2026-03-02' }), undefined)
})

t.test('days have a name', async (t) => {
  t.equal(daysText(daysOfMonth('2026-11'), 'en'), 'November 2026')
  t.equal(daysText({ from: '2026-11-02', to: '2026-11-04' }, 'en'), '2026-11-02 to 2026-11-03')
  t.equal(daysText({ from: '2026-11-02', to: '2026-11-03' }, 'en'), '2026-11-02')
})

t.test('a day is that of the zone', async (t) => {
  const now = Date.parse('2026-11-30T23:30:00Z')
  t.same([dayIn('UTC', now), dayIn('Europe/Madrid', now)], ['2026-11-30', '2026-12-01'])
})

t.test('what is no period is not read', async (t) => {
  t.same(readDays('2026-11-01', '2026-12-01'), { from: '2026-11-01', to: '2026-12-01' })
  for (const [from, to] of [
    ['2026-11-02', '2026-11-02'],
    ['2026-11-02', '2026-11-01'],
    ['2026-13-01', '2026-13-02'],
    ['x', '2026-11-01'],
    [undefined, '2026-11-01'],
  ] as const)
    t.equal(readDays(from, to), undefined, `${from} ${to}`)
})

t.test('recent periods end with the present day, and months go back a year', async (t) => {
  const days = recentDays('2026-03-01')
  t.same(days.find(({ value }) => value === '7-days')?.days, { from: '2026-02-23', to: '2026-03-02' })
  t.same(days.find(({ value }) => value === 'yesterday')?.days, { from: '2026-02-28', to: '2026-03-01' })
  const months = recentMonths('2026-03-01', 'en')
  t.same([months.at(0)?.label, months.at(-1)?.value], ['March 2026', '2025-03'])
})
