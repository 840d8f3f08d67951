// Variables of webhook nodes that nobody would read, so that no operator believes they work.
import type { VariableReader } from './variables.ts'

/** The last parts of a node's variables, `WEBHOOK_n_…`. */
const endpointSuffixes = [
  'ENABLED',
  'URL',
  'EVENTS',
  'EVENT_MODE',
  'FORMAT',
  'SECRET',
  'RETRY_SCHEDULE',
  'TIMEOUT',
] as const
export type EndpointSuffix = (typeof endpointSuffixes)[number]
const suffixes: readonly string[] = endpointSuffixes

/** Kubernetes and Docker set such variables for a service or a container that is called `webhook-1`. */
const setByContainers = /^(?:SERVICE_.*|PORT(?:_.*)?|NAME|ENV_.*)$/

/** What is common to all nodes, and the single list. */
const generalNames: readonly string[] = [
  'EXTERNAL_WEBHOOKS_ENABLED',
  'EXTERNAL_WEBHOOK_URLS',
  'EXTERNAL_WEBHOOK_EVENTS',
  'EXTERNAL_WEBHOOK_MAX_RETRIES',
  'EXTERNAL_WEBHOOK_RETRY_DELAY',
  'EXTERNAL_WEBHOOK_TIMEOUT',
]

const listPattern = /^EXTERNAL_WEBHOOKS?_(.+)$/

const endpointPattern = /^WEBHOOK_(\d+)_(.+)$/

/**
 * Reports nodes that are enabled but have a number that is not scanned, variables of enabled nodes whose last part means
 * nothing here, and those of the single list that it does not have: `EXTERNAL_WEBHOOK_ENABLED=false` would switch nothing off.
 * @param scanned `enabled`: the names of the nodes that are read
 */
export function reportUnknownVariables(
  read: VariableReader,
  { scanMax, enabled }: { readonly scanMax: number; readonly enabled: readonly string[] },
): void {
  for (const variable of read.names()) {
    const [, listSuffix] = listPattern.exec(variable) ?? []
    if (listSuffix !== undefined && !generalNames.includes(variable) && !setByContainers.test(listSuffix))
      read.problem(variable, `is not known; there are ${generalNames.join(', ')}`)
    const [, number = '', suffix = ''] = endpointPattern.exec(variable) ?? []
    if (enabled.includes(number)) {
      if (!suffixes.includes(suffix) && !setByContainers.test(suffix))
        read.problem(variable, `is no variable of a node, which has ${suffixes.join(', ')}`)
    } else if (suffix === 'ENABLED' && !isScanned(number, scanMax) && read.flag(variable, false)) {
      read.problem(variable, `is not looked at: nodes are numbered from 1 to WEBHOOK_SCAN_MAX, which is ${scanMax}`)
    }
  }
}

/** Only the plain number is: `01` is no other name of `1`. */
function isScanned(number: string, scanMax: number): boolean {
  return String(Number(number)) === number && Number(number) >= 1 && Number(number) <= scanMax
}
