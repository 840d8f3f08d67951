// Subscriptions to one stream, in cases that the recordings do not cover.

import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { openRead, readRequest } from '../rawReads.ts'
import { appendEitherWay } from './appendEitherWay.ts'
import { conformanceTarget, freshName } from './target.ts'

const { raw, isKurrentDb } = await conformanceTarget(t)

const append = (stream: string, types: readonly string[]) =>
  appendEitherWay(raw, 'BatchAppend', { stream, events: types.map((type) => ({ type })) })

function subscribe(stream: string, from: 'start' | 'end' | bigint) {
  const { messages, ended, cancel } = openRead(raw, readRequest({ stream, from, count: null }))
  const isLive = () => messages.some((message) => message.hasCaughtUp())
  const revisions = () => messages.flatMap((message) => message.getEvent()?.getEvent()?.getStreamRevision() ?? [])
  return { isLive, revisions, ended, cancel }
}

t.test('an event with the type of a tombstone ends the subscriptions to its stream', async (t) => {
  const stream = freshName('tombstone-type')
  const failed = { code: 'FAILED_PRECONDITION', trailers: { exception: 'stream-deleted', 'stream-name': stream } }
  await append(stream, ['T'])
  const live = subscribe(stream, 'end')
  const other = subscribe(freshName('other'), 'end')
  await waitFor(() => live.isLive() && other.isLive(), { what: 'the subscriptions to be live' })
  t.equal((await append(stream, ['T', '$streamDeleted', 'T'])).word, 'revision 3')
  await waitFor(live.ended, { what: 'the live subscription to end' })
  t.same([live.revisions(), live.ended()], [isKurrentDb ? ['1'] : ['1', '2'], failed])
  t.equal(other.ended(), undefined)
  other.cancel()

  const fromStart = subscribe(stream, 'start')
  await waitFor(fromStart.ended, { what: 'the subscription from the start to end' })
  const received = isKurrentDb ? [] : ['0', '1', '2']
  t.same([fromStart.revisions(), fromStart.isLive(), fromStart.ended()], [received, false, failed])

  const behind = subscribe(stream, 2n)
  await waitFor(behind.isLive, { what: 'the subscription behind it to be live' })
  t.same([behind.revisions(), behind.ended()], [['3'], undefined], 'a subscription after that event continues')
  behind.cancel()
})
