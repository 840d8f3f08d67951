// Wires the worker: the log is mapped to deliveries, deliveries are sent, and what was left open is followed up.
// biome-ignore-all lint/style/noProcessEnv: the nodes have no fixed list of variables, so all of them are handed over.
import { createEventStore } from '@paylog/event-store/eventStore'
import { runApp } from '@paylog/runtime/lifecycle'
import { createPool } from '@paylog/runtime/postgres'
import { enabledProviders } from '@paylog/workflows/enabledProviders'
import { loadWorkerConfig } from './config.ts'
import { createDeliveries } from './deliveries/deliveries.ts'
import { createDispatcher, webhookSubscription } from './dispatch/dispatcher.ts'
import { startFollowUps } from './follow-ups/startFollowUps.ts'
import { installationId } from './queue/installation.ts'
import { assertConnections, openQueueStore } from './queue/queueStore.ts'
import { createQueues } from './queue/queues.ts'
import { createSweep } from './queue/sweep.ts'
import { startWorkers } from './queue/workers.ts'
import { createEndpointAgent } from './send/postWebhook.ts'
import { createSender } from './send/sender.ts'
import { runSoleSubscription } from './subscriptions/soleSubscription.ts'

const maxConnections = 6

runApp('worker', async ({ log, lifecycle }) => {
  const config = loadWorkerConfig(process.env)
  const { nodes, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = config
  assertConnections({ nodes: nodes.length, redisUrl })
  const now = () => new Date()
  const signal = lifecycle.stopping
  const supervise = (name: string, subscription: Promise<void>) => {
    lifecycle.add(name, () => subscription.catch(() => undefined))
    subscription.catch((error: unknown) => lifecycle.fail(error))
  }

  const pool = createPool({ databaseUrl, applicationName: 'worker', max: maxConnections, log })
  lifecycle.add('database', () => pool.end())
  const deliveries = createDeliveries(pool)
  const store = createEventStore({ connectionString: config.EVENTSTORE_URL })
  lifecycle.add('event store', () => store.close())

  const providers = await enabledProviders(config)
  for (const provider of providers.values()) lifecycle.add(`provider ${provider.id}`, () => provider.close())
  const reconcileAfterMs = config.PAYMENT_RECONCILE_AFTER
  const followed = { pool, databaseUrl, store, providers, reconcileAfterMs, now, signal, log }
  const { reading, sweeping } = await startFollowUps(followed)
  lifecycle.add('follow-ups', () => sweeping)
  supervise('subscription of the follow-ups', reading)

  const installation = await installationId(pool)
  const queueStore = await openQueueStore({ databaseUrl, redisUrl, installation, workers: nodes.length, log })
  lifecycle.add('queue store', queueStore.close)
  const queues = createQueues({ store: queueStore.store, nodes, log })
  lifecycle.add('queues', () => queues.close())
  await queues.ready()

  const agent = createEndpointAgent(config.WEBHOOK_ALLOWED_PRIVATE_CIDRS)
  lifecycle.add('endpoint connections', () => agent.destroy())
  const successStatus = config.WEBHOOK_SUCCESS_STATUS
  const send = createSender({ deliveries, agent, successStatus, now, random: Math.random, log })
  const workers = await startWorkers({ store: queueStore.store, nodes, queues, send, log })
  lifecycle.add('workers', () => workers.close())

  const requeueing = createSweep({ deliveries, queues, nodes, now, log }).run(signal)
  lifecycle.add('sweep', () => requeueing)

  const dispatcher = createDispatcher({ deliveries, queues, nodes, projectId: config.PROJECT_ID, now, log })
  // Fails at start, not in the background, when the tables are not there.
  await dispatcher.start()
  const { start, handle } = dispatcher
  const subscription = { name: webhookSubscription, lock: 'webhooks-dispatcher', start, handle }
  supervise('subscription of the webhooks', runSoleSubscription({ ...subscription, store, databaseUrl, signal, log }))
})
