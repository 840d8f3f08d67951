import t from 'tap'
import { killAndStart, survives } from './testing/roundTrip.ts'

for (const part of ['projector', 'event-store-node'] as const)
  t.test(`kill -9 of the ${part} under load loses and doubles nothing`, (t) =>
    survives(t, { exactlyOnce: true, dreadful: killAndStart(part) }),
  )

// What it was sending when it died it sends again, under the same id.
t.test('kill -9 of the worker under load loses no webhook and makes none up', (t) =>
  survives(t, { dreadful: killAndStart('worker') }),
)
