// Variables of webhook nodes that nobody would read, so that no operator believes they work.
import type { VariableReader } from './variables.ts'

/** The last parts of a node's variables, `WEBHOOK_n_…`. */
const nodeEndings = ['ENABLED', 'URL', 'EVENTS', 'EVENT_MODE', 'FORMAT', 'SECRET', 'RETRY_SCHEDULE', 'TIMEOUT'] as const
export type NodeEnding = (typeof nodeEndings)[number]
const endings: readonly string[] = nodeEndings

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

const listVariable = /^EXTERNAL_WEBHOOKS?_(.+)$/

const nodeVariable = /^WEBHOOK_(\d+)_(.+)$/

/**
 * Reports nodes that are enabled but have a number that is not scanned, variables of enabled nodes whose last part means
 * nothing here, and those of the single list that it does not have: `EXTERNAL_WEBHOOK_ENABLED=false` would switch nothing off.
 * @param scanned `enabled`: the names of the nodes that are read
 */
export function reportMistakenNames(
  read: VariableReader,
  { scanMax, enabled }: { readonly scanMax: number; readonly enabled: readonly string[] },
): void {
  for (const variable of read.names()) {
    const [, ending] = listVariable.exec(variable) ?? []
    if (ending !== undefined && !generalNames.includes(variable) && !setByContainers.test(ending))
      read.problem(variable, `is not known; there are ${generalNames.join(', ')}`)
    const [, number = '', suffix = ''] = nodeVariable.exec(variable) ?? []
    if (enabled.includes(number)) {
      if (!endings.includes(suffix) && !setByContainers.test(suffix))
        read.problem(variable, `is no variable of a node, which has ${endings.join(', ')}`)
    } else if (suffix === 'ENABLED' && !isScanned(number, scanMax) && read.flag(variable, false)) {
      read.problem(variable, `is not looked at: nodes are numbered from 1 to WEBHOOK_SCAN_MAX, which is ${scanMax}`)
    }
  }
}

/** Only the plain number is: `01` is no other name of `1`. */
function isScanned(number: string, scanMax: number): boolean {
  return String(Number(number)) === number && Number(number) >= 1 && Number(number) <= scanMax
}
