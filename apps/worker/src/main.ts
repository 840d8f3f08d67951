// Starts the worker: maps the log to deliveries, sends them, and runs the reconciler.
// biome-ignore-all lint/style/noProcessEnv: the endpoints have no fixed list of variables, so all are passed on.
import { randomUUID } from 'node:crypto'
import { createDispatcher } from '@paylog/deliveries/dispatch/dispatcher'
import { assertConnections, installationId, openQueueStore } from '@paylog/deliveries/queue/queueStore'
import { createQueues } from '@paylog/deliveries/queue/queues'
import { createRequeuer } from '@paylog/deliveries/queue/requeue'
import { startWorkers } from '@paylog/deliveries/queue/workers'
import { createRetention } from '@paylog/deliveries/retention'
import { createEndpointAgent } from '@paylog/deliveries/send/endpointAgent'
import { createSender } from '@paylog/deliveries/send/sender'
import { decidedCheckpoint, webhookSubscription } from '@paylog/deliveries/subscriptions/checkpoint'
import {
  createReaderCheck,
  runExclusiveSubscription,
  startingReader,
  streamPrefixes,
} from '@paylog/deliveries/subscriptions/exclusiveSubscription'
import { createDeliveries } from '@paylog/deliveries/tables/deliveries'
import { createEventStore } from '@paylog/event-store/eventStore'
import { createPool } from '@paylog/runtime/postgres/pool'
import { runApp } from '@paylog/runtime/process/lifecycle'
import { createMetrics } from '@paylog/runtime/telemetry/metrics'
import { enabledProviders } from '@paylog/workflows/enabledProviders'
import { createWorkflowMetrics } from '@paylog/workflows/telemetry'
import { loadWorkerConfig } from './config.ts'
import { startHealthPage } from './health.ts'
import { measureAttempts } from './healthAttempts.ts'
import { startHeartbeat } from './heartbeat.ts'
import { startReconciler } from './reconciler/reconciler.ts'
import { measureReconciler } from './reconciler/reconcilerMetrics.ts'

const maxConnections = 6
/** Longer than the statement timeout: it detects Postgres connections that hang. */
const queryTimeoutMs = 20_000

runApp({ app: 'worker', portVariable: 'HEALTH_PORT' }, async ({ log, lifecycle }) => {
  const config = loadWorkerConfig(process.env)
  for (const warning of config.warnings) log.warn(`Configuration warning: ${warning}`)
  const { endpoints, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = config
  assertConnections({ nodes: endpoints.length, redisUrl })
  const now = () => new Date()
  const { stopping: signal, givingUp } = lifecycle
  const supervise = (name: string, subscription: Promise<void>) => {
    lifecycle.add(name, () => subscription.catch(() => undefined))
    subscription.catch((error: unknown) => lifecycle.fail(error))
  }

  const pool = createPool({ databaseUrl, applicationName: 'worker', max: maxConnections, queryTimeoutMs, log })
  lifecycle.add('database', () => pool.end())
  const deliveries = createDeliveries(pool)
  const metrics = createMetrics()
  const observe = createWorkflowMetrics(metrics)
  const store = createEventStore({ connectionString: config.EVENTSTORE_URL, observe: observe.append })
  lifecycle.add('event store', () => store.close())

  const providers = await enabledProviders(config, observe.providerCall)
  for (const provider of providers.values()) lifecycle.add(`provider ${provider.id}`, () => provider.close())
  const reconcileAfterMs = config.PAYMENT_RECONCILE_AFTER
  const options = { pool, databaseUrl, store, providers, reconcileAfterMs, now, signal, givingUp, log }
  const { reading, reconciling, readerCheck } = await startReconciler(options)
  lifecycle.add('reconciler', () => reconciling)
  measureReconciler(metrics, { pool, providers: [...providers.keys()], log })
  supervise('reconciler subscription', reading)

  const installation = await installationId(pool)
  const queueStore = await openQueueStore({ databaseUrl, redisUrl, installation, workers: endpoints.length, log })
  lifecycle.add('queue store', queueStore.close)
  const queues = createQueues({ store: queueStore.store, endpoints, log })
  lifecycle.add('queues', () => queues.close())
  await queues.ready()

  const agent = createEndpointAgent(config.WEBHOOK_ALLOWED_PRIVATE_CIDRS)
  lifecycle.add('endpoint connections', () => agent.destroy())
  const successStatus = config.WEBHOOK_SUCCESS_STATUS
  const attempts = measureAttempts({ metrics, now })
  const deps = { deliveries: attempts.countResults(deliveries), agent, successStatus, now, random: Math.random, log }
  const send = attempts.recordEnds(createSender(deps))
  const sending = { store: queueStore.store, endpoints, queues, send, stopping: signal, givingUp }
  const workers = await startWorkers({ ...sending, log })
  lifecycle.add('workers', workers.close, workers.underWay)

  const requeueing = createRequeuer({ deliveries, queues, endpoints, now, log }).run(signal)
  lifecycle.add('requeuer', () => requeueing)

  const projects = { projectId: config.PROJECT_ID, projectIds: config.PROJECT_IDS }
  const dispatcher = createDispatcher({ deliveries, queues, endpoints, projects, now, log })
  // Fails at start-up, not in the background, when the tables are missing.
  await dispatcher.start()
  const { handle } = dispatcher
  const start = async () => {
    await decidedCheckpoint({ pool, store }, streamPrefixes)
    return await dispatcher.start()
  }
  const state = startingReader()
  const subscription = { name: webhookSubscription, lock: 'webhooks-dispatcher', start, handle, state }
  const dispatching = runExclusiveSubscription({ ...subscription, store, databaseUrl, signal, log })
  supervise('webhooks subscription', dispatching)

  const names = endpoints.map(({ name }) => name)
  const heartbeat = await startHeartbeat({ pool, worker: randomUUID(), endpoints: names, log })
  const beating = heartbeat.run(signal)
  lifecycle.add('heartbeat', () => beating)
  const cleaning = createRetention({ pool, keepMs: config.WEBHOOK_LOG_RETENTION, now, log }).run(signal)
  lifecycle.add('retention', () => cleaning)

  const { HOST: host, HEALTH_PORT: port } = config
  if (port === undefined) return {}
  const checkpoint = () => deliveries.checkpoint(webhookSubscription)
  const readers = { log: createReaderCheck({ state, store, checkpoint, now }), follow_ups: readerCheck }
  const page = { host, port, pool, endpoints, queues, readers, endedAt: attempts.endedAt, metrics, now, lifecycle, log }
  return { healthUrl: await startHealthPage(page) }
})
