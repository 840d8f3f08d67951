import t from 'tap'
import { parseDurationMs } from './duration.ts'

t.test('durations are numbers with a unit; a bare number is milliseconds [10.4-durations]', async (t) => {
  for (const [text, ms] of [
    ['0', 0],
    ['250', 250],
    ['500ms', 500],
    ['5s', 5_000],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['24h', 86_400_000],
    ['90d', 7_776_000_000],
  ] as const)
    t.equal(parseDurationMs(text), ms, text)
})

t.test('parseDurationMs returns undefined for text that is not a duration', async (t) => {
  for (const text of ['', 's', '5 s', '-1s', '1.5s', '5w', '5S', '1h30m', '12345678901', '5s\n'])
    t.equal(parseDurationMs(text), undefined, JSON.stringify(text))
})
