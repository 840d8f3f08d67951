// An unreadable event stops its projection and some commands. A version that can read it continues.

import { randomUUID } from 'node:crypto'
import { jsonEvent } from '@eventstore/db-client'
import { recordedEvents, upcasters } from '@paylog/domain/recordedEvents'
import { createCodec } from '@paylog/event-store/codec/codec'
import { createEventStore } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { liveCheckpoint, recordStopped } from '@paylog/projections/apply/checkpoints'
import { payments } from '@paylog/projections/payments/projection'
import { runProjection } from '@paylog/projections/runProjection'
import { projectorHarness } from '@paylog/projections/testing/projectorHarness'
import { rebuildOne, tableStates, verifyOne, waitForAgreement } from '@paylog/projections/testing/readModelChecks'
import { record } from '@paylog/projections/testing/traffic'
import { createLog } from '@paylog/runtime/telemetry/log'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { Type } from 'typebox'

const metadata = { $correlationId: 'c', $causationId: 'c', actor: 'worker', schema: 1 }
/** The codec of a later version that has the event type. */
const laterCodec = createCodec({
  current: { ...recordedEvents, PaymentTeleported: Type.Object({}) },
  former: upcasters,
})

t.test('a projection stopped by an unreadable event resumes at it with a version that can read it', async (t) => {
  const harness = await projectorHarness(t)
  const { connectionString, pool, databaseUrl, keys } = harness
  const projector = await harness.startProjector()
  await record(harness.store, 12)
  await waitForAgreement(harness)
  await harness.store.client.appendToStream(
    paymentStream(randomUUID()),
    jsonEvent({ type: 'PaymentTeleported', data: {}, metadata }),
  )
  await record(harness.store, 12)
  const reason = async () => (await liveCheckpoint(pool, 'payments'))?.stopped_because ?? undefined
  const stopReason = await waitFor(reason, { what: 'the stop reason' })
  t.match(stopReason, /event .* \(PaymentTeleported, payment-.*, position \d+\)/)
  t.match(projector.output(), /"level":"fatal".*PaymentTeleported.*the projection stops/)
  t.match(projector.output(), /"correlationId":"c","causationId":"c".*the projection stops/)
  const stoppedAt = (await liveCheckpoint(pool, 'payments'))?.position

  await t.rejects(
    rebuildOne(harness, payments),
    { name: 'UnreadableEventError', message: stopReason },
    'a rebuild fails with the same reason',
  )
  t.same(await tableStates(pool, payments), ['live', 'building'])
  t.match(
    await verifyOne(harness, payments),
    { differing: 0, position: stoppedAt },
    'the existing rows can be verified',
  )
  await recordStopped(pool, 'payments@1', 'the reason of the current version')
  const later = await harness.startLater()
  await waitFor(async () => (await reason()) === stopReason, { what: 'the later version to stop at the same event' })
  t.match(later.output(), 'the projection stops')
  t.match(await liveCheckpoint(pool, 'payments'), { version: 1, position: stoppedAt })

  const store = createEventStore({ connectionString, keys, codec: laterCodec })
  const stopping = new AbortController()
  const log = createLog({ app: 'test', level: 'silent' })
  const common = { databaseUrl, pool, store, log, signal: stopping.signal }
  const running = runProjection({ ...common, projection: payments, awaited: new EventTarget() })
  t.teardown(async () => {
    stopping.abort()
    await running
    await store.close()
  })
  await waitForAgreement({ pool, store }, [payments])
  t.equal(await reason(), undefined)
  t.match(await verifyOne({ databaseUrl, pool, store }, payments), { differing: 0 })
  t.match(await rebuildOne({ databaseUrl, pool, store }, payments), { version: 2, comparison: { differing: 0 } })
})
