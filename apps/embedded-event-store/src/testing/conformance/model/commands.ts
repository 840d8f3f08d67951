// The random steps as commands of fast-check.
import type { Arbitrary, AsyncCommand } from 'fast-check'
import { intents } from './arbitraries.ts'
import { concreteStep, type Step } from './concreteStep.ts'
import type { Intent } from './intents.ts'
import { doAppend, doRead, doRemoval, doSubscribe, isOtherInKurrentDb, type ModelRun } from './modelRun.ts'
import type { StreamRead } from './reads.ts'
import type { Session } from './session.ts'
import { isMetastream, originalOf } from './store.ts'

export type Command = AsyncCommand<ModelRun, Session>

const maxSubscriptions = 4
const maxShownCharacters = 80

export const commands: Arbitrary<Command>[] = intents.map((intent) => intent.map(commandOf))

function commandOf(intent: Intent): Command {
  return {
    check: (modelRun) => canBeDone(modelRun, intent),
    async run(modelRun, session) {
      const step = concreteStep(modelRun, session, intent)
      modelRun.steps.push(textOf(step))
      await perform(modelRun, session, step)
    },
    toString: () => intent.do,
  }
}

function canBeDone(modelRun: ModelRun, intent: Intent): boolean {
  if (intent.do === 'repeat') return modelRun.appended.length > 0
  return intent.do !== 'subscribe' || modelRun.subscriptions.length < maxSubscriptions
}

async function perform(modelRun: ModelRun, session: Session, step: Step): Promise<void> {
  if ('append' in step) {
    const { stream } = step.append
    if (session.isKurrentDb && isOtherInKurrentDb(step.append)) return
    await doAppend(modelRun, session, step.append)
    // The effect of metadata on its stream may end with the next metadata.
    if (isMetastream(stream)) await doRead(modelRun, session, wholeStream(originalOf(stream)))
    return
  }
  if ('remove' in step) return doRemoval(modelRun, session, step.remove, step.stream, step.expected)
  return 'read' in step ? doRead(modelRun, session, step.read) : doSubscribe(modelRun, session, step.subscribe)
}

function wholeStream(stream: string): StreamRead {
  return { stream, direction: 'forwards', from: 'start', count: 1_000, links: false }
}

function textOf(step: Step): string {
  return JSON.stringify(step, (_name, value: unknown) => {
    if (typeof value === 'bigint') return `#${value}`
    return Buffer.isBuffer(value) ? value : shown(value)
  })
}

/** Buffers arrive in their JSON form. */
function shown(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('type' in value) || value.type !== 'Buffer') return value
  const bytes = 'data' in value && Array.isArray(value.data) ? Buffer.from(value.data) : Buffer.alloc(0)
  return bytes.toString('utf8').slice(0, maxShownCharacters)
}
