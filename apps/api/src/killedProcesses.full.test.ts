// Each process is killed under load. Every payment must survive, exactly once.
import t from 'tap'
import {
  assertSurvivesFault,
  assertWebhooksDelivered,
  killAndStart,
  roundTripHarness,
} from './testing/roundTripHarness.ts'

const harness = await roundTripHarness(t)

t.test('without Redis a payment reaches the webhook endpoints', (t) => assertWebhooksDelivered(t, harness))

for (const app of ['projector', 'embedded-event-store'] as const)
  t.test(`SIGKILL of ${app} under load loses and duplicates nothing`, (t) =>
    assertSurvivesFault(t, harness, { exactlyOnce: true, causeFault: killAndStart(app) }),
  )

// Killed once only: a client that repeats a request waits until the killed attempt counts as dead.
t.test('SIGKILL of api under load loses and duplicates nothing', (t) =>
  assertSurvivesFault(t, harness, {
    exactlyOnce: true,
    async causeFault(system, n) {
      if (n === 0) await killAndStart('api')(system)
    },
  }),
)

// The worker resends the webhooks that were in flight when it died, with the same ids.
t.test('SIGKILL of the worker under load loses no webhook and invents none', (t) =>
  assertSurvivesFault(t, harness, { causeFault: killAndStart('worker') }),
)
