// Whichever part is killed under load, everything that was begun is there in the end, once.
import t from 'tap'
import { killAndStart, startTold, survives } from './testing/roundTrip.ts'

const told = await startTold(t)

for (const part of ['projector', 'event-store-node'] as const)
  t.test(`kill -9 of the ${part} under load loses and doubles nothing`, (t) =>
    survives(t, told, { exactlyOnce: true, dreadful: killAndStart(part) }),
  )

// Once only: whoever asks again for a payment that the dead gateway had under way has to wait until it counts as dead.
t.test('kill -9 of the gateway under load loses and doubles nothing', (t) =>
  survives(t, told, {
    exactlyOnce: true,
    async dreadful(system, n) {
      if (n === 0) await killAndStart('gateway')(system)
    },
  }),
)

// What it was sending when it died it sends again, under the same id.
t.test('kill -9 of the worker under load loses no webhook and makes none up', (t) =>
  survives(t, told, { dreadful: killAndStart('worker') }),
)
