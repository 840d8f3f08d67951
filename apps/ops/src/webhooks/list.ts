// `webhooks list`: shows the state of the endpoints and the newest deliveries.
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import {
  type ListedDelivery,
  type ListedStatus,
  listDeliveries,
  listedStatuses,
} from '@paylog/deliveries/operations/deliveryList'
import { type ListedEndpoint, listEndpoints, maxCounted } from '@paylog/deliveries/operations/endpointList'
import { table } from '@paylog/runtime/process/table'
import { Type } from 'typebox'
import { type CliCommand, readArguments, readCount, UsageError } from '../command.ts'
import { withDeliveries } from '../database.ts'

const Config = Type.Object({ DATABASE_URL: url(['postgres', 'postgresql']) })
const defaultLimit = 50
/** Query the database for more. */
const maxLimit = 10_000

export const webhooksList: CliCommand = {
  usage: `[--node N] [--status ${listedStatuses.join('|')}] [--limit N] [--json]`,
  summary: 'Show the state of the endpoints, and the newest deliveries',
  details: [
    '  --node N    only one endpoint: 1, 2, legacy-1',
    '  --status S  pending: not sent yet; held: kept until `webhooks enable`, because the endpoint is paused;',
    '              succeeded; failed: not retried any more, `webhooks redeliver` sends it again',
    `  --limit N   the number of deliveries (${defaultLimit}, at most ${maxLimit})`,
    '  --json      one object: nodes (the endpoints) and deliveries',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const { values } = readArguments(args, [], {
      node: { type: 'string' },
      status: { type: 'string' },
      limit: { type: 'string' },
      json: { type: 'boolean' },
    })
    const status = readStatus(values.status)
    const limit = readCount('--limit', values.limit, 1) ?? defaultLimit
    if (limit > maxLimit) throw new UsageError(`--limit must be at most ${maxLimit}`)
    const { DATABASE_URL } = loadConfig(Config, environment)
    await withDeliveries(DATABASE_URL, errors, async (pool) => {
      const nodes = await listEndpoints(pool, values.node)
      const deliveries = (await listDeliveries(pool, { node: values.node, status, limit })).map(toShown)
      await print(
        values.json ? JSON.stringify({ nodes, deliveries }) : `${endpointsText(nodes)}\n\n${listText(deliveries)}`,
      )
    })
  },
}

function readStatus(text: string | undefined): ListedStatus | undefined {
  const status = listedStatuses.find((word) => word === text)
  if (text !== undefined && status === undefined)
    throw new UsageError(`--status must be one of ${listedStatuses.join(', ')}`)
  return status
}

function endpointsText(nodes: readonly ListedEndpoint[]): string {
  if (nodes.length === 0) return 'No such endpoint has been configured yet.'
  const count = (number: number) => (number === maxCounted ? `${number} or more` : String(number))
  return table(
    ['Endpoint', 'State', 'Pending', 'Failed', 'Oldest pending'],
    nodes.map((node) => [
      node.node,
      stateText(node),
      count(node.pending),
      count(node.failed),
      node.oldest_pending_at?.toISOString() ?? '',
    ]),
  )
}

function stateText({ disabled_at, is_configured }: ListedEndpoint): string {
  const states = [
    ...(is_configured ? [] : ['not configured']),
    ...(disabled_at === null ? [] : [`paused since ${disabled_at.toISOString()}`]),
  ]
  return states.length === 0 ? 'enabled' : states.join(', ')
}

/** The fields of a delivery that the command shows. */
function toShown({ id, node, event, status, attempts, is_test, ...delivery }: ListedDelivery) {
  const { last_http_status, last_error, next_attempt_at, created_at } = delivery
  return { id, node, event, status, attempts, is_test, last_http_status, last_error, next_attempt_at, created_at }
}

function listText(deliveries: readonly ReturnType<typeof toShown>[]): string {
  if (deliveries.length === 0) return 'No such deliveries.'
  return table(
    ['Id', 'Endpoint', 'Event', 'Status', 'Attempts', 'Last error', 'Next attempt', 'Created'],
    deliveries.map(({ id, node, event, status, attempts, is_test, next_attempt_at, created_at, ...last }) => [
      id,
      node,
      // Event names may come from a provider. Control characters must not reach the terminal.
      `${event.replaceAll(/\p{C}/gu, '?')}${is_test ? ' (test)' : ''}`,
      status,
      String(attempts),
      [last.last_error ?? '', last.last_error === null ? '' : (last.last_http_status ?? '')].join(' ').trim(),
      next_attempt_at?.toISOString() ?? '',
      created_at.toISOString(),
    ]),
  )
}
