// Start positions, order and checkpoints, through the real client.
import { once } from 'node:events'
import { END, type Position, streamNameFilter } from '@eventstore/db-client'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { openRead, readRequest } from '../testing/rawReads.ts'
import { connectRaw } from '../testing/rawStreams.ts'
import { numbered, startServerHarness } from '../testing/serverHarness.ts'

const { node, client } = await startServerHarness(t)
const raw = connectRaw(t, node.port)

async function appendEach(stream: string, count: number): Promise<Position[]> {
  const positions: Position[] = []
  for (const event of numbered(0, count)) {
    const { position } = await client.appendToStream(stream, event)
    if (position) positions.push(position)
  }
  return positions
}

async function firstOf<Resolved>(subscription: AsyncIterable<Resolved>): Promise<Resolved> {
  for await (const first of subscription) return first
  throw new Error('the subscription ended without an event')
}

t.test('a subscription to all starts after its start position', async (t) => {
  const [first, second] = await appendEach('resumed', 3)
  const subscription = client.subscribeToAll({ ...(first && { fromPosition: first }) })
  t.equal((await firstOf(subscription)).event?.position.commit, second?.commit)
  await subscription.unsubscribe()
})

t.test('a subscription from the end gets only new events', async (t) => {
  await appendEach('before', 3)
  const subscription = client.subscribeToAll({ fromPosition: END })
  await once(subscription, 'confirmation')
  await client.appendToStream('after', numbered(1, 1))
  t.equal((await firstOf(subscription)).event?.streamId, 'after')
  await subscription.unsubscribe()
})

t.test('a filtered subscription sends checkpoints during catch-up and live', async (t) => {
  const [start] = await appendEach('other', 10)
  const checkpoints: bigint[] = []
  const subscription = client.subscribeToAll({
    ...(start && { fromPosition: start }),
    filter: streamNameFilter({
      prefixes: ['wanted-'],
      maxSearchWindow: 2,
      checkpointReached: async (_, position) => {
        checkpoints.push(position.commit)
      },
    }),
  })
  await once(subscription, 'confirmation')
  const live = await appendEach('other', 5)
  const [matching] = await appendEach('wanted-1', 1)
  t.equal((await firstOf(subscription)).event?.position.commit, matching?.commit)
  t.ok(checkpoints.length >= 5)
  t.same(
    checkpoints,
    [...checkpoints].sort((a, b) => Number(a - b)),
    'checkpoints never decrease',
  )
  t.ok((checkpoints.at(-1) ?? 0n) >= (live[0]?.commit ?? 0n), 'live events without a match count for checkpoints')
  await subscription.unsubscribe()
})

t.test('a filtered subscription from the end or after it sends no early checkpoint', async (t) => {
  const filter = { by: 'stream', prefixes: ['wanted-'], window: 1 } as const
  for (const beyond of [undefined, 0n, 2n]) {
    const [last] = await appendEach('other', 1)
    const from = (last?.commit ?? 0n) + (beyond ?? 0n)
    const read = openRead(raw, readRequest({ from: beyond === undefined ? 'end' : from, count: null, filter }))
    await waitFor(() => read.messages.some((message) => message.hasCaughtUp()), { what: 'the subscription to be live' })
    const checkpoints = () => read.messages.flatMap((message) => message.getCheckpoint()?.getCommitPosition() ?? [])
    t.same(checkpoints(), [])
    const after = (await appendEach('other', 3)).map((position) => position.commit)
    const due = after.filter((position) => position >= from).map(String)
    await waitFor(() => checkpoints().length === due.length, { what: 'the checkpoints' })
    t.same(checkpoints(), due)
    read.cancel()
  }
})

t.test('a filtered subscription without a match sends its start position as checkpoint', async (t) => {
  const [first] = await appendEach('other', 3)
  const from = first?.commit ?? 0n
  const filter = { by: 'stream', prefixes: ['wanted-'] } as const
  const read = openRead(raw, readRequest({ from, count: null, filter }))
  await waitFor(() => read.messages.some((message) => message.hasCaughtUp()), { what: 'the subscription to be live' })
  t.same(
    read.messages.map((message) => message.getCheckpoint()?.getCommitPosition()),
    [undefined, String(from), undefined],
  )
  read.cancel()
})
