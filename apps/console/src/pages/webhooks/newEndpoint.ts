// The lines that add an endpoint to the environment.
import type { EndpointReport } from '../../api/apiTypes.ts'

export type NewEndpoint = {
  readonly name: string
  readonly url: string
  readonly events: string
  readonly mode: string
  readonly secret: string
}

/** The first number that no endpoint has or had: deliveries of a former one would go to the new one. */
export function freeNumber(endpoints: readonly Pick<EndpointReport, 'endpoint'>[]): number {
  const used = endpoints.map(({ endpoint }) => Number(endpoint)).filter((number) => Number.isInteger(number))
  return Math.max(0, ...used) + 1
}

/** What is not said has its default, and needs no line. */
export function environmentLines(number: number, { name, url, events, mode, secret }: NewEndpoint): string {
  const lines: readonly (readonly [suffix: string, value: string, byDefault: string])[] = [
    ['ENABLED', 'true', ''],
    ['NAME', name.trim(), ''],
    ['URL', url.trim(), ''],
    ['EVENTS', events.trim(), 'all'],
    ['EVENT_MODE', mode, 'canonical'],
    ['SECRET', secret, ''],
  ]
  return lines
    .filter(([, value, byDefault]) => value !== '' && value !== byDefault)
    .map(([suffix, value]) => `WEBHOOK_${number}_${suffix}=${value}\n`)
    .join('')
}

const secretBytes = 32

/** A new signing secret, as Standard Webhooks has them. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(secretBytes))
  return `whsec_${btoa(String.fromCharCode(...bytes))}`
}
