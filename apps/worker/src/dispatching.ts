// Starts the subscription that creates deliveries from the log and empties them at erasures.
import { createDispatcher } from '@paylog/webhooks/deliveries/dispatch/dispatcher'
import { decidedCheckpoint, webhookSubscription } from '@paylog/webhooks/deliveries/subscriptions/checkpoint'
import { startReader, streamPrefixes } from '@paylog/webhooks/deliveries/subscriptions/exclusiveSubscription'

type DispatchingOptions = Parameters<typeof createDispatcher>[0] &
  Omit<Parameters<typeof startReader>[0], 'name' | 'lock' | 'start' | 'handle'>

/** @returns as `startReader`. @throws when the tables are missing */
export async function startDispatching(options: DispatchingOptions): Promise<ReturnType<typeof startReader>> {
  const dispatcher = createDispatcher(options)
  // Fails at start-up, not in the background, when the tables are missing.
  await dispatcher.start()
  const { handle } = dispatcher
  const start = async () => {
    await decidedCheckpoint(options, streamPrefixes)
    return await dispatcher.start()
  }
  // Before the app is ready, so that in a new system no payment comes first. The subscription reports what goes wrong.
  await start().catch(() => undefined)
  return startReader({ ...options, name: webhookSubscription, lock: 'webhooks-dispatcher', start, handle })
}
