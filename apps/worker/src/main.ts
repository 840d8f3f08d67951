// Wires the worker: the log is mapped to deliveries, and deliveries are sent.
// biome-ignore-all lint/style/noProcessEnv: the nodes have no fixed list of variables, so all of them are handed over.
import { createEventStore } from '@paylog/event-store/eventStore'
import { runApp } from '@paylog/runtime/lifecycle'
import { createPool } from '@paylog/runtime/postgres'
import { loadWorkerConfig } from './config.ts'
import { createDeliveries } from './deliveries/deliveries.ts'
import { createDispatcher } from './dispatch/dispatcher.ts'
import { runDispatcher } from './dispatch/runDispatcher.ts'
import { installationId } from './queue/installation.ts'
import { assertConnections, openQueueStore } from './queue/queueStore.ts'
import { createQueues } from './queue/queues.ts'
import { createSweep } from './queue/sweep.ts'
import { startWorkers } from './queue/workers.ts'
import { createEndpointAgent } from './send/postWebhook.ts'
import { createSender } from './send/sender.ts'

const maxConnections = 6

runApp('worker', async ({ log, lifecycle }) => {
  const config = loadWorkerConfig(process.env)
  const { nodes, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = config
  assertConnections({ nodes: nodes.length, redisUrl })
  const now = () => new Date()

  const pool = createPool({ databaseUrl, applicationName: 'worker', max: maxConnections, log })
  lifecycle.add('database', () => pool.end())
  const deliveries = createDeliveries(pool)
  const store = createEventStore({ connectionString: config.EVENTSTORE_URL })
  lifecycle.add('event store', () => store.close())

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

  const sweeping = createSweep({ deliveries, queues, nodes, now, log }).run(lifecycle.stopping)
  lifecycle.add('sweep', () => sweeping)

  const dispatcher = createDispatcher({ deliveries, queues, nodes, projectId: config.PROJECT_ID, now, log })
  // Fails at start, not in the background, when the tables are not there.
  await dispatcher.start()
  const dispatching = runDispatcher({ dispatcher, store, databaseUrl, signal: lifecycle.stopping, log })
  lifecycle.add('subscription', () => dispatching.catch(() => undefined))
  dispatching.catch((error: unknown) => lifecycle.fail(error))
})
