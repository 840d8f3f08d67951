// Appends that wait for the writer: cancelled ones, and those during an outage.
import shared from '@eventstore/db-client/generated/shared_pb.js'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { streamIdentifier } from '../protocol/identifiers.ts'
import { openBatch } from '../testing/batchSession.ts'
import { blockCommits } from '../testing/blockedCommits.ts'
import { queryOnce } from '../testing/durability/privatePostgres.ts'
import { deleteStream, tombstoneStream, unaryAppend } from '../testing/rawCalls.ts'
import { unaryMessage } from '../testing/rawMessages.ts'
import { batchRequest, connectRaw } from '../testing/rawStreams.ts'
import { startServerHarness } from '../testing/serverHarness.ts'

/** Each sends a complete append and returns a function that cancels it. */
const ways: Record<string, (raw: StreamsClient, stream: string) => () => void> = {
  Append(raw, stream) {
    const call = raw.append(() => undefined).on('error', () => undefined)
    const options = new streams.AppendReq.Options().setAny(new shared.Empty())
    call.write(new streams.AppendReq().setOptions(options.setStreamIdentifier(streamIdentifier(stream))))
    call.write(new streams.AppendReq().setProposedMessage(unaryMessage({})))
    call.end()
    return () => call.cancel()
  },
  BatchAppend(raw, stream) {
    const call = raw.batchAppend().on('error', () => undefined)
    call.write(batchRequest({ stream, events: [{}] }))
    return () => call.cancel()
  },
}

for (const [way, begin] of Object.entries(ways)) {
  t.test(`${way}: a cancelled append that waits for another commit is not written`, async (t) => {
    const { node, databaseUrl } = await startServerHarness(t)
    const raw = connectRaw(t, node.port)
    const commits = await blockCommits(t, databaseUrl)
    const first = unaryAppend(raw, { stream: 'first', events: [{}] })
    await commits.untilOneWaits()

    const cancel = begin(raw, 'cancelled')
    const roundTrip = () => new Promise((resolve) => raw.read(new streams.ReadReq()).on('error', resolve))
    await roundTrip()
    cancel()
    await roundTrip()
    await commits.letGo()
    t.ok('response' in (await first))
    t.ok('response' in (await unaryAppend(raw, { stream: 'last', events: [{}] })), 'written after all waiting appends')
    const written = await queryOnce(databaseUrl, "select stream from event_store.events where stream = 'cancelled'")
    t.same(written, [])
  })
}

t.test('open and new calls fail with UNAVAILABLE at once during an outage', async (t) => {
  const { node, databaseUrl } = await startServerHarness(t)
  const raw = connectRaw(t, node.port)
  const idle = openBatch(t, raw)
  idle.send({ stream: 's', events: [{}] })
  await idle.first(1)
  // The next session cannot be opened either.
  const commits = await blockCommits(t, databaseUrl)
  const writers = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'embedded-event-store writer'`
  await queryOnce(databaseUrl, writers)
  const unavailable = { code: 'UNAVAILABLE', trailers: {} }
  t.same(await idle.failure(), unavailable)
  const late = openBatch(t, raw)
  late.send({ stream: 's', events: [{}] })
  t.same(await late.failure(), unavailable)
  t.same(await unaryAppend(raw, { stream: 's', events: [{}] }), { failed: unavailable })
  t.same(await deleteStream(raw, 's', 'any'), { failed: unavailable })
  t.same(await tombstoneStream(raw, 's', 'any'), { failed: unavailable })
  await commits.letGo()
  const isBack = async () => 'response' in (await unaryAppend(raw, { stream: 's', expected: 0, events: [{}] }))
  await waitFor(isBack, { what: 'the server to write again' })
})
