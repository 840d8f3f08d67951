// Sequences found by random runs, for rules that are easy to get wrong.
import t, { type Test } from 'tap'
import { conformanceTarget } from '../target.ts'
import { createModelRun, doAppend, doRead, doRemoval, doSubscribe, finish, type ModelRun } from './modelRun.ts'
import { openSession, type Session } from './session.ts'
import type { Proposed } from './store.ts'

async function playOnBoth(t: Test, steps: (modelRun: ModelRun, session: Session) => Promise<void>): Promise<void> {
  const modelRun = createModelRun()
  const session = await openSession(await conformanceTarget(t))
  try {
    await steps(modelRun, session)
    await finish(modelRun, session)
    t.pass('the server responded as the model does')
  } finally {
    for (const { server } of modelRun.subscriptions) server.cancel()
    session.batch.close()
  }
}

function event(id: string, type: string, data: string): Proposed {
  return { id, type, json: type !== '$>', data: Buffer.from(data), meta: Buffer.alloc(0) }
}

function appendTo(stream: string, ...events: Proposed[]) {
  return { stream, expected: 'any', events, via: 'batch', chunks: 1 } as const
}

t.test('an empty append restores a soft-deleted stream', (t) =>
  playOnBoth(t, async (modelRun, session) => {
    await doAppend(modelRun, session, appendTo('a', event('e1', 'T', '{}')))
    await doRemoval(modelRun, session, 'delete', 'a', 'any')
    await doAppend(modelRun, session, appendTo('a'))
    await doRead(modelRun, session, { stream: 'a', direction: 'forwards', from: 'start', count: 9, links: false })
    await doRemoval(modelRun, session, 'delete', 'a', 'any')
    await doAppend(modelRun, session, appendTo('$$a'))
    await doRead(modelRun, session, { stream: '$$a', direction: 'forwards', from: 'start', count: 9, links: false })
  }),
)

t.test('repeated metadata after a tombstone has no position, because it cannot be read', (t) =>
  playOnBoth(t, async (modelRun, session) => {
    await doAppend(modelRun, session, appendTo('$$a', event('e1', '$metadata', '{}')))
    await doRemoval(modelRun, session, 'tombstone', 'a', 'any')
    await doAppend(modelRun, session, appendTo('$$a', event('e1', '$metadata', '{}')))
  }),
)

t.test('a link with invalid data is a normal event in a read and a broken link live', (t) =>
  playOnBoth(t, async (modelRun, session) => {
    const request = { from: 'start', links: true, filter: undefined } as const
    await doSubscribe(modelRun, session, { ...request, stream: 'l' })
    await doSubscribe(modelRun, session, { ...request, from: 'end', stream: undefined })
    await doAppend(modelRun, session, appendTo('l', event('e1', '$>', 'x@a')))
    await doSubscribe(modelRun, session, { ...request, stream: 'l' })
    await doRead(modelRun, session, { stream: 'l', direction: 'forwards', from: 'start', count: 9, links: true })
  }),
)
