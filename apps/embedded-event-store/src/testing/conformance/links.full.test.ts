// Resolving links, including links without a readable target.

import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { type ReadForm, readMessages, readRequest } from '../rawReads.ts'
import { appendEitherWay } from './appendEitherWay.ts'
import { shown } from './readingBack.ts'
import { conformanceTarget, freshName } from './target.ts'

const { raw, client } = await conformanceTarget(t)

const append = (stream: string, count: number) =>
  appendEitherWay(raw, 'BatchAppend', { stream, events: Array.from({ length: count }, () => ({})) })

async function linksTo(...data: string[]): Promise<string> {
  const stream = freshName('links')
  await appendEitherWay(raw, 'BatchAppend', { stream, events: data.map((each) => ({ type: '$>', data: each })) })
  return stream
}

const resolved = (stream: string, form: Partial<ReadForm> = {}) =>
  shown(raw, { stream, from: 'start', resolveLinks: true, ...form })

t.test('a link is sent with its target in any read, but only on request', async (t) => {
  const target = freshName('target')
  await append(target, 3)
  const links = await linksTo(`0@${target}`, `2@${target}`)
  t.same(await shown(raw, { stream: links, from: 'start' }), ['0', '1'])
  t.same(await resolved(links), [`0→0@${target}`, `1→2@${target}`])
  t.same(await resolved(links, { from: 'end', backwards: true }), [`1→2@${target}`, `0→0@${target}`])
  t.same(await resolved(links, { from: 1n, count: 1 }), [`1→2@${target}`])
  const byTarget = { from: 'end', backwards: true, count: 2, resolveLinks: true } as const
  t.same(await shown(raw, { ...byTarget, filter: { by: 'stream', prefixes: [links] } }), [
    `1→2@${target}`,
    `0→0@${target}`,
  ])
  t.same(
    await shown(raw, { ...byTarget, filter: { by: 'stream', prefixes: [target] } }),
    ['2', '1'],
    'a filter applies to the link, not to the target',
  )
})

t.test('link and target have their own positions, and the message has that of the link', async (t) => {
  const target = freshName('target')
  const { position: targetPosition } = await append(target, 1)
  const links = await linksTo(`0@${target}`)
  const { messages } = await readMessages(raw, readRequest({ stream: links, from: 'start', resolveLinks: true }))
  const read = messages[0]?.getEvent()
  t.equal(read?.getEvent()?.getCommitPosition(), String(targetPosition))
  t.equal(read?.getCommitPosition(), read?.getLink()?.getCommitPosition())
  t.ok(BigInt(read?.getCommitPosition() ?? 0) > (targetPosition ?? 0n))
})

t.test('a link whose target cannot be read is sent alone', async (t) => {
  const [truncated, deleted, tombstoned, shrunk] = [freshName('tr'), freshName('de'), freshName('to'), freshName('mc')]
  for (const stream of [truncated, deleted, tombstoned, shrunk]) await append(stream, 3)
  await client.setStreamMetadata(truncated, { truncateBefore: 1 })
  await client.setStreamMetadata(shrunk, { maxCount: 1 })
  await client.deleteStream(deleted)
  await client.setStreamMetadata(tombstoned, {})
  await client.tombstoneStream(tombstoned)
  const table: [string, string][] = [
    [`0@${truncated}`, 'nothing'],
    [`1@${truncated}`, `1@${truncated}`],
    [`3@${truncated}`, 'nothing'],
    [`1@${shrunk}`, 'nothing'],
    [`2@${shrunk}`, `2@${shrunk}`],
    [`0@${deleted}`, 'nothing'],
    [`0@$$${deleted}`, `0@$$${deleted}`],
    [`0@${tombstoned}`, 'nothing'],
    [`9223372036854775807@${tombstoned}`, 'nothing'],
    [`0@$$${tombstoned}`, 'nothing'],
    [`0@${freshName('never')}`, 'nothing'],
  ]
  const links = await linksTo(...table.map(([data]) => data))
  t.same(
    await resolved(links),
    table.map(([, target], index) => `${index}→${target}`),
  )
  await append(deleted, 1)
  t.same(await resolved(await linksTo(`0@${deleted}`, `3@${deleted}`)), ['0→nothing', `1→3@${deleted}`])
})

t.test('a link whose target has expired is sent alone', async (t) => {
  const target = freshName('old')
  await append(target, 1)
  const links = await linksTo(`0@${target}`)
  await client.setStreamMetadata(target, { maxAge: 1 })
  await waitFor(async () => (await resolved(links))[0] === '0→nothing', { what: 'the target to expire' })
  t.same(await resolved(links), ['0→nothing'])
})

t.test('a link to a metadata stream resolves its last event only', async (t) => {
  const target = freshName('target')
  await client.setStreamMetadata(target, { maxCount: 1 })
  await client.setStreamMetadata(target, { maxCount: 2 })
  t.same(await resolved(await linksTo(`0@$$${target}`, `1@$$${target}`)), ['0→nothing', `1→1@$$${target}`])
})

t.test('a link to a link is resolved once', async (t) => {
  const target = freshName('target')
  await append(target, 1)
  const first = await linksTo(`0@${target}`)
  const second = await linksTo(`0@${first}`, `1@${first}`)
  t.same(await resolved(second), [`0→0@${first}`, '1→nothing'])
  const own = freshName('self')
  await appendEitherWay(raw, 'Append', { stream: own, events: [{ type: '$>', data: `0@${own}` }] })
  t.same(await resolved(own), [`0→0@${own}`])
})

t.test('link data is parsed as revision@stream like in EventStoreDB', async (t) => {
  const target = freshName('with@sign')
  await append(target, 3)
  const table: [string, string][] = [
    [`1@${target}`, `→1@${target}`],
    [`01@${target}`, `→1@${target}`],
    [` +1 @${target}`, `→1@${target}`],
    // The revision -1 is the last event.
    [`-1@${target}`, `→2@${target}`],
    [`-2@${target}`, '→nothing'],
    ['1', '→nothing'],
    ['1@', '→nothing'],
    [`1@ ${target}`, '→nothing'],
    // Data that does not start with a number makes it a normal event.
    ['', ''],
    [`@${target}`, ''],
    [`one@${target}`, ''],
    [`1.0@${target}`, ''],
    [`9223372036854775808@${target}`, ''],
    ['no link at all', ''],
  ]
  const links = await linksTo(...table.map(([data]) => data))
  t.same(
    await resolved(links),
    table.map(([, word], index) => `${index}${word}`),
  )
})

t.test('an event is a link by its type only', async (t) => {
  const target = freshName('target')
  await append(target, 1)
  const stream = freshName('no-links')
  const data = `0@${target}`
  await appendEitherWay(raw, 'Append', {
    stream,
    events: [
      { type: '$@', data },
      { type: 'Link', data },
      { type: '$>', contentType: 'application/json', data },
    ],
  })
  t.same(await resolved(stream), ['0', '1', `2→0@${target}`])
})

t.test('many links to large events are resolved', async (t) => {
  const target = freshName('large')
  for (const _ of [0, 1, 2]) await appendEitherWay(raw, 'BatchAppend', { stream: target, events: [{ bytes: 1 << 20 }] })
  const links = await linksTo(...Array.from({ length: 60 }, (_, index) => `${index % 3}@${target}`))
  t.same(
    await resolved(links),
    Array.from({ length: 60 }, (_, index) => `${index}→${index % 3}@${target}`),
  )
})
