// Memory use of reads of large events by clients that stall.
import { once } from 'node:events'
import { ANY, binaryEvent } from '@eventstore/db-client'
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import t from 'tap'
import { connectAlone } from '../testing/rawBytes.ts'
import { type ReadForm, readRequest } from '../testing/rawReads.ts'
import { startServerProcess } from '../testing/serverProcess.ts'

const eventBytes = 200_000
const events = 160
const perAppend = 5
/** Buffering everything for every reader would take 190 MB; one page each takes a third of that, including garbage. */
const maxMegabytes = 140

t.test('a stalled reader takes the memory of one page, and gets all events in the end', async (t) => {
  const node = await startServerProcess(t)
  for (let written = 0; written < events; written += perAppend) {
    const group = Array.from({ length: perAppend }, () =>
      binaryEvent({ type: 'T', data: Buffer.alloc(eventBytes, written) }),
    )
    await node.client.appendToStream('large', group, { expectedRevision: ANY })
  }
  const all = { by: 'stream', prefixes: ['large'] } as const
  const forms: readonly ReadForm[] = [
    { stream: 'large', from: 'start' },
    { stream: 'large', from: 'end', backwards: true },
    { from: 'start' },
    { from: 'end', backwards: true },
    { from: 'start', filter: all },
    { from: 'end', backwards: true, filter: all },
  ]
  const calls = forms.map((form) => {
    const call = connectAlone(t, node.port).read(readRequest(form))
    return { form, call: call.on('error', () => undefined) }
  })
  const before = await node.residentMegabytes()
  const revisions = await Promise.all(
    calls.map(async ({ call }) => {
      const seen: string[] = []
      const take = (message: ReadResp) => {
        const event = message.getEvent()?.getEvent()
        const isOurs = event !== undefined && event.getData_asU8().length === eventBytes
        if (isOurs) seen.push(event.getStreamRevision())
      }
      call.on('data', take)
      await once(call, 'data')
      call.pause()
      return seen
    }),
  )
  // A server that reads ahead for stalled readers has had time to do so.
  for await (const _ of node.client.readStream('large'));
  const grown = (await node.residentMegabytes()) - before
  t.ok(grown < maxMegabytes, `${Math.round(grown)} MB for ${calls.length} readers`)
  await Promise.all(
    calls.map(({ call }) => {
      const end = once(call, 'end')
      call.resume()
      return end
    }),
  )
  const forwards = Array.from({ length: events }, (_, index) => String(index))
  for (const [index, { form }] of calls.entries()) {
    t.same(revisions[index], form.backwards ? forwards.toReversed() : forwards, JSON.stringify(form))
  }
  t.same(node.warnings(), [])
})
