import { createClients } from '../clients.ts'
import { startEndpoint } from '../endpoint.ts'
import { createNotifier } from '../notifier.ts'
import { createRandom } from '../random.ts'
import { createCampaignSandbox } from '../sandbox.ts'
import { startCampaignStripe } from '../stripe.ts'
import { setTimeout as pause } from 'node:timers/promises'
export type LoadUrls = { readonly command: readonly string[]; readonly query: string; readonly operator: string; readonly eventStore: string }
export async function prepareLoad(stack: AsyncDisposableStack, { seed }: { readonly seed: number }) {
  const over = new AbortController()
  stack.defer(async () => over.abort())
  const stripe = await startCampaignStripe(stack, seed)
  const endpoint = await startEndpoint(stack, createRandom(seed, 'endpoint'))
  const urls: string[] = []
  const notifier = createNotifier({ urls, random: createRandom(seed, 'notifications'), over: over.signal })
  const sandbox = createCampaignSandbox(createRandom(seed, 'sandbox'), notifier)
  let clients: ReturnType<typeof createClients> | undefined
  let isPaused = true
  const acknowledged: string[] = []
  return {
    env: { ...stripe.env, ...sandbox.env, ...endpoint.env } as Record<string, string>,
    start(to: LoadUrls) {
      urls.push(...to.command)
      stripe.notify(notifier)
      clients = createClients({
        urls: to.command as [string], random: createRandom(seed, 'clients'), over: over.signal,
        onAcknowledged({ provider, amount_cents, currency }, { id, provider_intent_id }) {
          acknowledged.push(id)
          if (provider === 'sandbox' && provider_intent_id !== null) sandbox.settle({ id: provider_intent_id, payment_id: id, amount_cents, currency })
        },
      })
      isPaused = false
      void (async () => {
        for (const random = createRandom(seed, 'load'); !over.signal.aborted; await pause(random.between(60, 340))) {
          if (isPaused || clients === undefined) continue
          if (clients.busy() < 60) clients.begin()
          if (random.isIn(0.06)) stripe.foreignPayment(acknowledged)
        }
      })()
    },
    async pause() { isPaused = true },
    resume() { isPaused = false },
    busy: () => (clients?.busy() ?? 0) + notifier.pending() + stripe.payersBusy(),
    received: () => endpoint.received.length,
    seen: () => ({ requests: clients?.requests ?? [], intents: [...stripe.books(), ...sandbox.books()], notifications: notifier.notifications, webhooks: endpoint.received }),
  }
}
