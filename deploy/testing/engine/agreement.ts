// Compares an outside ledger with what a stack of containers says.
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import { type Ledger, startLedger } from '../ledger.ts'
import { guest, request, type Target } from '../payments.ts'
import { type Stack, secretOf } from './stack.ts'

const listedTimeoutMs = 120_000

export const targetOf = (stack: Stack): Target => ({
  url: stack.url,
  sandboxSecret: secretOf(stack, 'sandbox_webhook_secret'),
})

/** Every payment of a ledger that has stopped is there once: in the list, in the provider's books and among the webhooks. */
export async function agreesWith(t: Test, stack: Stack, ledger: Ledger): Promise<void> {
  const target = targetOf(stack)
  t.comment(`${ledger.paid.size} payments in the ledger`)
  t.same(ledger.contradictions, [], 'a repetition gets the same payment')
  const ids = [...ledger.paid.keys()].sort()
  let listed: readonly Listed[] = []
  const areListed = async () => {
    listed = (await allPayments(target)).filter(({ concept }) => concept === ledger.concept)
    return listed.length >= ids.length && listed.every(({ status }) => status === 'succeeded')
  }
  await waitFor(areListed, { what: 'every payment in the list', timeoutMs: listedTimeoutMs }).catch(
    async (error: unknown) => {
      const [first, ...others] = listed.filter(({ status }) => status !== 'succeeded').map(({ id }) => id)
      const history = first === undefined ? '' : await stack.ops('payments', 'show', first)
      const count = `${listed.length} of ${ids.length} are listed`
      throw new Error(`${String(error)}: ${count}, not succeeded: ${first}, and ${others.length} others\n${history}`)
    },
  )
  t.same(listed.map(({ id }) => id).sort(), ids, 'the list has the payments of the ledger, none lost, none twice')
  const books = await stack.psql('select payment_id from sandbox.intents')
  const inBooks = books.split('\n').filter((id) => ledger.paid.has(id))
  t.same(inBooks.sort(), ids, "the provider's books have each of them once")
  let messages: Awaited<ReturnType<typeof successesAt>> = new Map()
  const areDelivered = async () => {
    messages = await successesAt(stack)
    return ids.every((id) => messages.has(id))
  }
  await waitFor(areDelivered, { what: 'a webhook of every payment', timeoutMs: listedTimeoutMs }).catch(
    async (error: unknown) => {
      const missing = ids.filter((id) => !messages.has(id))
      const work = await stack.psql(
        "select concat_ws(' ', status, attempts, event, created_at, last_error) from webhooks.all_deliveries " +
          `where payment_id = '${missing[0]}'`,
      )
      throw new Error(`${String(error)}: ${missing.length} of ${ids.length} have none, such as ${missing[0]}: ${work}`)
    },
  )
  t.same(
    ids.filter((id) => messages.get(id)?.size !== 1),
    [],
    'each has one message that it succeeded, though perhaps sent again',
  )
}

/** Kills each container in turn, and then all of them at once, while payments are made. The engine starts them again. */
export async function survivesKills(t: Test, stack: Stack, services: readonly string[]): Promise<void> {
  const ledger = startLedger(targetOf(stack))
  for (const killed of [...services.map((name) => [name]), services]) {
    const before = ledger.paid.size
    await stack.kill(...killed)
    await waitFor(() => ledger.paid.size > before + 3, { what: `payments after ${killed}`, timeoutMs: 180_000 })
  }
  await ledger.stop()
  await stack.healthy()
  await agreesWith(t, stack, ledger)
}

export type Message = {
  readonly id: string
  readonly body: { readonly event: string; readonly data: { readonly payment_id: string } }
}

/** What the webhook endpoint has got, in order. */
export async function messagesOf(stack: Stack): Promise<readonly Message[]> {
  const lines = await stack.compose('exec', '-T', 'receiver', 'cat', '/messages/lines')
  return lines
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
}

/** The ids of the messages about a payment's success, by payment. */
async function successesAt(stack: Stack): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const successes = new Map<string, Set<string>>()
  for (const { id, body } of await messagesOf(stack)) {
    const { payment_id: payment } = body.data
    if (body.event === 'payment.succeeded') successes.set(payment, (successes.get(payment) ?? new Set()).add(id))
  }
  return successes
}

type Listed = { readonly id: string; readonly status: string; readonly concept: string }

async function allPayments(target: Target): Promise<readonly Listed[]> {
  const found: Listed[] = []
  for (let page = 1; ; page++) {
    const { body, text } = await request(target, `/payments?limit=50&page=${page}`, { headers: guest })
    if (body?.success !== true) throw new Error(text)
    found.push(...body.data)
    if (body.data.length < 50) return found
  }
}
