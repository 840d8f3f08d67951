// Whichever part is killed under load, everything that was begun is there in the end, once.
import t from 'tap'
import { assertSurvivesFault, killAndStart, roundTripHarness } from './testing/roundTripHarness.ts'

const harness = await roundTripHarness(t)

for (const part of ['projector', 'embedded-event-store'] as const)
  t.test(`kill -9 of the ${part} under load loses and doubles nothing`, (t) =>
    assertSurvivesFault(t, harness, { exactlyOnce: true, causeFault: killAndStart(part) }),
  )

// Once only: whoever asks again for a payment that the dead api had under way has to wait until it counts as dead.
t.test('kill -9 of the api under load loses and doubles nothing', (t) =>
  assertSurvivesFault(t, harness, {
    exactlyOnce: true,
    async causeFault(system, n) {
      if (n === 0) await killAndStart('api')(system)
    },
  }),
)

// What it was sending when it died it sends again, under the same id.
t.test('kill -9 of the worker under load loses no webhook and makes none up', (t) =>
  assertSurvivesFault(t, harness, { causeFault: killAndStart('worker') }),
)
