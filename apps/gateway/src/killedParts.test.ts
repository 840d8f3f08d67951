import t from 'tap'
import { killAndStart, survives } from './testing/roundTrip.ts'

for (const part of ['projector', 'worker', 'event-store-node'] as const)
  t.test(`kill -9 of the ${part} under load loses and doubles nothing`, (t) => survives(t, {}, killAndStart(part)))
