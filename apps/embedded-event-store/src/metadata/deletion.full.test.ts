// Truncation, soft deletion and restoring, tombstones and links, through the real client.
import { BACKWARDS, binaryEvent, FORWARDS, NO_STREAM, START } from '@eventstore/db-client'
import t from 'tap'
import { numbered, startServerHarness } from '../testing/serverHarness.ts'
import { parseStreamMetadata, withTruncateBefore } from './streamMetadata.ts'

const { client } = await startServerHarness(t)

async function revisions(stream: string, direction: 'forwards' | 'backwards' = FORWARDS) {
  const seen: number[] = []
  const fromRevision = direction === FORWARDS ? 'start' : 'end'
  for await (const { event } of client.readStream(stream, { direction, fromRevision })) {
    seen.push(Number(event?.revision))
  }
  return seen
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no failure',
    (error: unknown) => error,
  )
}

t.test('a deleted stream is not found, and a later append restores it without its old events', async (t) => {
  await client.appendToStream('deleted', numbered(0, 3), { expectedRevision: NO_STREAM })
  t.match(await failureOf(client.deleteStream('deleted', { expectedRevision: 7n })), { type: 'wrong-expected-version' })
  await client.deleteStream('deleted', { expectedRevision: 2n })
  t.match(await failureOf(revisions('deleted')), { type: 'stream-not-found' })
  await client.appendToStream('deleted', numbered(3, 2), { expectedRevision: NO_STREAM })
  t.same(await revisions('deleted'), [3, 4])
  t.same(await revisions('deleted', BACKWARDS), [4, 3])
  t.equal((await client.getStreamMetadata('deleted')).metadata?.truncateBefore, 3)
})

t.test('a tombstoned stream cannot be read or written', async (t) => {
  await client.appendToStream('tombstoned', numbered(0, 1))
  await client.tombstoneStream('tombstoned')
  t.match(await failureOf(revisions('tombstoned')), { type: 'stream-deleted' })
  t.match(await failureOf(client.appendToStream('tombstoned', numbered(1, 1))), { type: 'stream-deleted' })
  t.match(await failureOf(client.tombstoneStream('tombstoned')), { type: 'stream-deleted' })
})

t.test('a stream whose metadata stream is tombstoned cannot be deleted', async (t) => {
  await client.appendToStream('described', numbered(0, 1))
  await client.tombstoneStream('$$described')
  t.match(await failureOf(client.deleteStream('described')), { type: 'stream-deleted' })
  t.ok((await client.appendToStream('described', numbered(1, 1), { expectedRevision: 0n })).success)
})

t.test('metadata truncates reads of its own stream only', async (t) => {
  await client.appendToStream('truncated', numbered(0, 6))
  await client.setStreamMetadata('truncated', { maxCount: 2 })
  t.same(await revisions('truncated'), [4, 5])
  await client.setStreamMetadata('truncated', { truncateBefore: 3 })
  t.same(await revisions('truncated'), [3, 4, 5])
  await client.setStreamMetadata('truncated', {})
  t.same(await revisions('truncated'), [0, 1, 2, 3, 4, 5])
  let inLog = 0
  for await (const { event } of client.readAll()) if (event?.streamId === 'truncated') inLog += 1
  t.equal(inLog, 6)
})

t.test('links are resolved on request, and sent alone when their target cannot be read', async (t) => {
  await client.appendToStream('target', numbered(0, 1))
  const link = (data: string) => binaryEvent({ type: '$>', data: Buffer.from(data) })
  await client.appendToStream('links', [link('0@target'), link('5@target'), link('0@nowhere')])
  const resolved: unknown[] = []
  for await (const each of client.readStream('links', { resolveLinkTos: true, fromRevision: START })) {
    resolved.push([each.event?.streamId, each.link?.revision])
  }
  t.same(resolved, [
    ['target', 0n],
    [undefined, 1n],
    [undefined, 2n],
  ])
})

t.test('metadata of a wrong type is ignored entirely, a number out of range by itself', async (t) => {
  const parsed = (json: string) => parseStreamMetadata(Buffer.from(json))
  t.same(parsed('{"$maxCount":2,"$tb":9223372036854775807}'), { maxCount: 2n, truncateBefore: 9223372036854775807n })
  t.same(parsed('{"$maxCount":"2","$tb":3}'), {})
  t.same(parsed('{"$maxCount":0,"$maxAge":-1,"$tb":-5}'), {})
  t.same(parsed('{"$maxCount":1.5}'), {})
  t.same(parsed('[1]'), {})
  t.same(parsed('nonsense'), {})
})

t.test('withTruncateBefore keeps all other keys and numbers as written', async (t) => {
  const merged = withTruncateBefore(Buffer.from('{"owner":"x","big":12345678901234567890,"$tb":1,"last":1.0}'), 4n)
  t.equal(merged?.toString(), '{"owner":"x","big":12345678901234567890,"$tb":4,"last":1.0}')
  t.equal(withTruncateBefore(Buffer.from('nonsense'), 4n), undefined)
})
