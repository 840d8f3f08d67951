// An event that cannot be read: what stops, what refuses, and how it goes on after a fix.

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

const metadata = { correlationId: 'c', causationId: 'c', actor: 'worker', schema: 1 }
/** Of a program that knows what this one does not. */
const wiser = createCodec({ current: { ...recordedEvents, PaymentTeleported: Type.Object({}) }, former: upcasters })

t.test(
  'a projection that met an event it cannot read resumes behind what it has, with a program that can',
  async (t) => {
    const house = await projectorHarness(t)
    const { connectionString, pool, databaseUrl } = house
    const projector = await house.startProjector()
    await record(house.store, 12)
    await waitForAgreement(house)
    await house.store.client.appendToStream(
      paymentStream(randomUUID()),
      jsonEvent({ type: 'PaymentTeleported', data: {}, metadata }),
    )
    await record(house.store, 12)
    const note = async () => (await liveCheckpoint(pool, 'payments'))?.stopped_because ?? undefined
    const said = await waitFor(note, { what: 'the note' })
    t.match(said, /event .* \(PaymentTeleported, payment-.*, position \d+\)/)
    t.match(projector.output(), /"level":"fatal".*PaymentTeleported.*the projection stops/)
    t.match(projector.output(), /"correlationId":"c","causationId":"c".*the projection stops/)
    const stoppedAt = (await liveCheckpoint(pool, 'payments'))?.position

    await t.rejects(
      rebuildOne(house, payments),
      { name: 'UnreadableEventError', message: said },
      'a rebuild refuses in the same words',
    )
    t.same(await tableStates(pool, payments), ['live'])
    t.match(await verifyOne(house, payments), { differing: 0, position: stoppedAt }, 'what is there can be verified')
    const before = 'what the present program said'
    await recordStopped(pool, 'payments@1', before)
    const later = await house.startLater()
    await waitFor(() => later.output().includes('the projection stops'), { what: 'a later program to stop as loudly' })
    await waitFor(async () => (await tableStates(pool, payments)).length === 1, { what: 'its table to be dropped' })
    t.match(await liveCheckpoint(pool, 'payments'), { definition: 1, position: stoppedAt, stopped_because: before })

    const store = createEventStore({ connectionString, codec: wiser })
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
    t.equal(await note(), undefined)
    t.match(await verifyOne({ databaseUrl, pool, store }, payments), { differing: 0 })
    t.match(await rebuildOne({ databaseUrl, pool, store }, payments), { version: 2, comparison: { differing: 0 } })
  },
)
