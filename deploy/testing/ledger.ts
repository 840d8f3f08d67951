// An outside ledger: it pays while something is done to the deployment, remembers what was promised to it, and compares it
// afterwards with what the deployment, its provider and its webhooks say.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { pay, settle, type Target } from './payments.ts'

const callers = 3
const pauseMs = 100
const retryMs = 500
const patienceMs = 180_000

export type Ledger = {
  /** Payments that were promised and whose notification was accepted, by their ids. */
  readonly paid: ReadonlyMap<string, { readonly intent: string }>
  /** The concept of all its payments. */
  readonly concept: string
  /** Answers that promised something else for the same key. */
  readonly contradictions: readonly string[]
  /** Ends the load. Every payment that was begun is repeated until its outcome is known. @throws when one stays unknown */
  stop(): Promise<void>
}

/** Starts callers who pay one payment after the other, and repeat with the same key what they did not get an answer to. */
export function startLedger(target: Target): Ledger {
  const concept = `ledger ${randomUUID()}`
  const paid = new Map<string, { intent: string }>()
  const contradictions: string[] = []
  let stopped = false

  /** @returns the first answer with this status that is enough, however often it takes */
  async function until<Answer extends { status: number; text: string }>(
    status: number,
    ask: () => Promise<Answer>,
    isEnough: (answer: Answer) => boolean = () => true,
  ) {
    const latest = Date.now() + patienceMs
    let last = 'no answer'
    while (Date.now() < latest) {
      const answer = await ask().catch((error: unknown) => {
        last = String(error)
      })
      if (answer?.status === status && isEnough(answer)) return answer
      if (answer !== undefined) last = `${answer.status} ${answer.text.slice(0, 300)}`
      // Only what says that the outcome is open, or that nothing was done, may be repeated.
      if (answer !== undefined && answer.status < 500 && ![status, 409, 429].includes(answer.status))
        throw new Error(`refused: ${last}`)
      await pause(retryMs)
    }
    throw new Error(`no outcome within ${patienceMs} ms: ${last}`)
  }

  async function call(): Promise<void> {
    while (!stopped) {
      const key = randomUUID()
      // After a call with an unknown outcome, a repetition shows the payment without an intent until the outcome is known.
      const opened = await until(
        201,
        () => pay(target, { key, concept }),
        ({ body }) => body.data.provider_intent_id !== null,
      )
      const { id, provider_intent_id: intent } = opened.body.data
      const again = await until(201, () => pay(target, { key, concept }))
      if (again.body.data.id !== id) contradictions.push(`${key}: ${id}, then ${again.body.data.id}`)
      await until(200, () => settle(target, intent, key))
      paid.set(id, { intent })
      await pause(pauseMs)
    }
  }

  const calls = Promise.all(Array.from({ length: callers }, call))
  // Reported by `stop`.
  calls.catch(() => undefined)
  return {
    paid,
    concept,
    contradictions,
    async stop() {
      stopped = true
      await calls
    },
  }
}
