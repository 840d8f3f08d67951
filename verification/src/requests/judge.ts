// Judges one response by the document alone.
import type { ValidateFunction } from 'ajv'
import type { Route } from './document.ts'
import { owners as everyOwner, type PlannedRequest } from './plan.ts'
import type { ReceivedResponse } from './send.ts'

export type Finding = { readonly rule: string; readonly story: string }

/** Too slow or too large for any route. */
const transportStatuses = [408, 431]
/** One that the generator sends. Administrators may see it in what a provider sent. */
const card = /4242 ?4242 ?4242 ?4242/
/** Where administrators see what is theirs alone. */
const ownLists = /^\/(payment-methods|addresses|payments(\?|$))/

/**
 * @param isError accepts the body of every error
 * @returns what the document does not allow. Empty for a good response
 */
export function judge(request: PlannedRequest, response: ReceivedResponse, isError: ValidateFunction): Finding[] {
  const { route, raw, isValid, method, owners } = request
  const { status, headers, text } = response
  const isRouted = route !== undefined && !transportStatuses.includes(status)
  // Without a whole request there need be no response.
  if (status === 0) return raw ? [] : [{ rule: 'no response', story: text }]
  const found: Finding[] = []
  const report = (rule: string, story: string) => void found.push({ rule, story: `${status}: ${story.slice(0, 600)}` })
  if (status >= 500) report('server error', text)
  if (!/^[0-9a-f-]{36}$/.test(String(headers['x-request-id']))) report('no request id', String(headers['x-request-id']))
  if (isRouted && status < 300 && !isValid) report('invalid request accepted', text)
  const leak = leakIn(request, text)
  if (leak !== undefined) report('data of another owner', leak)
  if (card.test(text) && (status >= 400 || !owners.includes('admin'))) report('card number in a response', text)
  const problem = isRouted ? documentProblem(route, response) : undefined
  if (problem !== undefined) report('not as documented', `${problem}: ${text}`)
  // Bytes may be two requests, with two responses.
  if (!isRouted && status >= 400 && method !== 'HEAD' && !isError(parsedJson(text)) && !raw) report('odd error', text)
  return found
}

function documentProblem({ responses }: Route, { status, headers, text }: ReceivedResponse): string | undefined {
  const [type = ''] = String(headers['content-type']).split(';')
  const isDocumented = responses.get(`${status} ${type}`)
  if (!isDocumented) return `no such status with ${type}`
  if (isDocumented(type === 'application/json' ? parsedJson(text) : text)) return undefined
  return (isDocumented.errors ?? [])
    .slice(0, 5)
    .map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
    .join('; ')
}

/** A mutated text may name nobody. */
const canary = new RegExp(`canary\\.(${everyOwner.join('|')})\\.[^"]{0,20}`, 'g')

function leakIn({ owners, path }: PlannedRequest, text: string): string | undefined {
  if (owners.includes('admin') && !ownLists.test(path)) return undefined
  return [...text.matchAll(canary)].find(([, owner = '']) => !owners.includes(owner))?.[0]
}

export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
