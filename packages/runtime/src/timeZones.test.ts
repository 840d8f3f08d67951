import t from 'tap'
import { timeZone } from './timeZones.ts'

t.test('a time has the offset of its zone, on both sides of a change of the clocks', (t) => {
  const expected: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
    UTC: [['2026-03-01T10:00:00.000Z', '2026-03-01T10:00:00.000Z']],
    'Europe/Berlin': [
      ['2026-03-29T00:59:59.999Z', '2026-03-29T01:59:59.999+01:00'],
      ['2026-03-29T01:00:00.000Z', '2026-03-29T03:00:00.000+02:00'],
      ['2026-10-25T00:30:00.000Z', '2026-10-25T02:30:00.000+02:00'],
      ['2026-10-25T01:30:00.000Z', '2026-10-25T02:30:00.000+01:00'],
      ['2026-02-28T23:30:00.000Z', '2026-03-01T00:30:00.000+01:00'],
    ],
    'Asia/Kolkata': [['2026-03-01T20:00:00.000Z', '2026-03-02T01:30:00.000+05:30']],
    // Until 2011 the clocks changed at a minute past midnight.
    'America/St_Johns': [
      ['2010-03-14T03:30:59.999Z', '2010-03-14T00:00:59.999-03:30'],
      ['2010-03-14T03:31:00.000Z', '2010-03-14T01:01:00.000-02:30'],
    ],
    'Europe/London': [['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000+00:00']],
  }
  for (const [name, times] of Object.entries(expected))
    for (const [time, shown] of times) {
      t.equal(timeZone(name).format(time), shown, name)
      t.equal(Date.parse(shown), Date.parse(time), 'the same instant')
    }
  t.end()
})

t.test('a day begins at its midnight, or at its first instant when the clocks skip midnight', (t) => {
  const expected = [
    ['UTC', '2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['Europe/Berlin', '2026-03-01', '2026-02-28T23:00:00.000Z'],
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z'],
    ['Europe/Berlin', '2026-03-30', '2026-03-29T22:00:00.000Z'],
    ['Pacific/Auckland', '2026-01-01', '2025-12-31T11:00:00.000Z'],
    ['America/Los_Angeles', '2026-01-01', '2026-01-01T08:00:00.000Z'],
    // From 0:00 to 1:00.
    ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00.000Z'],
    // From 24:00 back to 23:00.
    ['America/Santiago', '2026-04-05', '2026-04-05T04:00:00.000Z'],
  ] as const
  for (const [name, day, start] of expected)
    t.equal(new Date(timeZone(name).startOfDay(day)).toISOString(), start, `${name} ${day}`)
  t.end()
})

t.test('the days of a zone follow each other without gap, and each has the times that are shown with its date', (t) => {
  for (const name of ['Europe/Berlin', 'America/Santiago', 'Asia/Tehran', 'Australia/Lord_Howe', 'Pacific/Apia']) {
    const zone = timeZone(name)
    for (let ms = Date.UTC(2024, 0, 1); ms < Date.UTC(2026, 0, 1); ms += 86_400_000) {
      const day = new Date(ms).toISOString().slice(0, 10)
      const start = zone.startOfDay(day)
      const [first, before] = [start, start - 1].map((time) => zone.format(new Date(time).toISOString()).slice(0, 10))
      if (first !== day || !before || before >= day) t.fail(`${name} ${day}: ${before}, ${first}`)
    }
  }
  t.end()
})

t.test('what is no name of a time zone is an invalid request', (t) => {
  for (const name of ['Mars/Olympus', '+02:00', '', 'Europe/Berlin\n', '../UTC', 'a'.repeat(70)])
    t.throws(() => timeZone(name), { code: 'invalid_request', details: { fields: [{ field: 'time_zone' }] } }, name)
  t.end()
})
