// Posts the sandbox's notifications to the receiver of this server, as a provider would.
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { HostedPage } from '@paylog/providers/hostedPage'
import { reachableUrl } from '@paylog/runtime/process/reachableUrl'
import type { FastifyInstance } from 'fastify'

const pollMs = 1_000
/** How long a payer waits for the payment to know what they decided. The notification arrives in any case. */
const patienceMs = 5_000

/**
 * While the server listens, posts what is due every second.
 * @returns a function that posts what is due now, for at most five seconds
 */
export function deliverNotifications(app: FastifyInstance, page: HostedPage): () => Promise<void> {
  const stopping = new AbortController()
  let latest: Promise<void> = Promise.resolve()
  let isFailing = false

  async function deliver(): Promise<void> {
    const address = app.server.address()
    if (stopping.signal.aborted || !isPort(address)) return
    const failures: unknown[] = []
    const receiver = `${reachableUrl(address.address, address.port)}/webhooks/sandbox`
    const failed = (error: unknown) => void failures.push(error)
    await page.deliver(receiver, failed).catch(failed)
    // Once for each outage.
    if (failures.length > 0 && !isFailing)
      app.log.warn({ err: failures[0] }, 'the sandbox cannot deliver its notifications, and tries again')
    isFailing = failures.length > 0
  }

  // One after the other, so that whoever waits for the second finds the notifications of the first delivered.
  const next = () => {
    latest = latest.then(deliver)
    return latest
  }
  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) {
      await next()
      await pause(pollMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
    }
  }
  app.addHook('onListen', async () => void poll())
  app.addHook('preClose', async () => {
    stopping.abort()
    await latest
  })
  return () => Promise.race([next(), pause(patienceMs, undefined, { ref: false })])
}

const isPort = (address: string | AddressInfo | null): address is AddressInfo =>
  typeof address === 'object' && address !== null
