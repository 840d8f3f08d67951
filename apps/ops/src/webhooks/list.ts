// `webhooks list`: shows the state of the endpoints and the newest deliveries.

import { table } from '@paylog/runtime/process/table'
import {
  type ListedDelivery,
  listDeliveries,
  listedStatuses,
  listSettings,
} from '@paylog/webhooks/deliveries/operations/deliveryList'
import { type ListedEndpoint, listEndpoints, maxCounted } from '@paylog/webhooks/deliveries/operations/endpointList'
import { defineCommand } from '../defineCommand.ts'
import { count, oneOf, text, withDefault } from '../options.ts'
import { visible } from '../texts.ts'

/** Query the database for more. */
const maxLimit = 10_000

export const webhooksList = defineCommand({
  summary: 'Show the state of the endpoints, and the newest deliveries',
  options: {
    node: text('N', 'only one endpoint: 1, 2, legacy-1'),
    status: oneOf(
      'S',
      listedStatuses,
      'pending: not sent yet; held: kept until `webhooks enable`, because the endpoint is paused;\n' +
        'succeeded; failed: not retried any more, `webhooks redeliver` sends it again',
    ),
    limit: withDefault(count('N', `the number of deliveries, at most ${maxLimit}`, { max: maxLimit }), 50),
  },
  json: 'one object: nodes (the endpoints) and deliveries',
  async run({ options, open }) {
    const pool = open.pool({ settings: listSettings })
    const { node: endpoint, status, limit } = options
    const endpoints = await listEndpoints(pool, endpoint)
    const deliveries = await listDeliveries(pool, { endpoint, status, limit })
    const json = { nodes: endpoints.map(withNode), deliveries: deliveries.map(toShown) }
    return { json, text: `${endpointsText(endpoints)}\n\n${listText(deliveries)}` }
  },
})

/** The output of 1.0.0 has the name of an endpoint as `node`. */
const withNode = <Row extends { readonly endpoint: string }>({ endpoint: node, ...row }: Row) => ({ node, ...row })

function endpointsText(endpoints: readonly ListedEndpoint[]): string {
  if (endpoints.length === 0) return 'No such endpoint has been configured yet.'
  const count = (number: number) => (number === maxCounted ? `${number} or more` : String(number))
  return table(
    ['Endpoint', 'State', 'Pending', 'Failed', 'Oldest pending'],
    endpoints.map((listed) => [
      listed.endpoint,
      stateText(listed),
      count(listed.pending),
      count(listed.failed),
      listed.oldest_pending_at ?? '',
    ]),
  )
}

function stateText({ disabled_at, is_configured }: ListedEndpoint): string {
  const states = [
    ...(is_configured ? [] : ['not configured']),
    ...(disabled_at === null ? [] : [`paused since ${disabled_at}`]),
  ]
  return states.length === 0 ? 'enabled' : states.join(', ')
}

/** The fields of a delivery that the command shows. */
function toShown({ id, endpoint: node, event, status, attempts, is_test, ...delivery }: ListedDelivery) {
  const { last_http_status, last_error, next_attempt_at, created_at } = delivery
  return { id, node, event, status, attempts, is_test, last_http_status, last_error, next_attempt_at, created_at }
}

function listText(deliveries: readonly ListedDelivery[]): string {
  if (deliveries.length === 0) return 'No such deliveries.'
  return table(
    ['Id', 'Endpoint', 'Event', 'Status', 'Attempts', 'Last error', 'Next attempt', 'Created'],
    deliveries.map(({ id, endpoint, event, status, attempts, is_test, next_attempt_at, created_at, ...last }) => [
      id,
      endpoint,
      `${visible(event)}${is_test ? ' (test)' : ''}`,
      status,
      String(attempts),
      [last.last_error ?? '', last.last_error === null ? '' : (last.last_http_status ?? '')].join(' ').trim(),
      next_attempt_at ?? '',
      created_at,
    ]),
  )
}
