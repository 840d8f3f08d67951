// The calls of an in-process provider: which were made, which fail, and what happens during them.
import { ProviderError, type ProviderErrorKind } from '@paylog/providers/provider'

/** How a call fails; with `done` the provider executes it all the same. */
export type ProviderFailure = {
  readonly kind: ProviderErrorKind
  readonly done?: boolean
  readonly rateLimit?: boolean
}

type Hook = ((call: string) => Promise<unknown>) | undefined

/** A hook that makes each call fail. */
export const fails = (kind: ProviderErrorKind) => async (call: string) => {
  throw providerError(call.split(' ')[0] ?? '', { kind })
}

export type Steps = ReturnType<typeof createSteps>

/** The calls of a fake, and what happens during the next ones. */
export const createSteps = () => ({
  /** Every call, as `<verb> <object>`. */
  calls: [] as string[],
  /** Failures of the next calls, by verb. */
  failures: new Map<string, (ProviderFailure | undefined)[]>(),
  /** The failure of every call. */
  always: undefined as ProviderFailure | undefined,
  /** Runs before a call takes effect. */
  before: undefined as Hook,
  /** Runs after a call took effect, before it returns. */
  meanwhile: undefined as Hook,
})

export async function perform<Result>(steps: Steps, call: string, act: () => Result): Promise<Result> {
  steps.calls.push(call)
  const [verb = ''] = call.split(' ')
  const fault = steps.failures.get(verb)?.shift() ?? steps.always
  if (fault && !fault.done) throw providerError(verb, fault)
  await steps.before?.(call)
  const result = act()
  await steps.meanwhile?.(call)
  if (fault) throw providerError(verb, fault)
  return result
}

function providerError(verb: string, { kind, rateLimit = false }: ProviderFailure): ProviderError {
  const options = { rateLimit: rateLimit ? { retryAfterMs: null } : null }
  return new ProviderError(kind, `${verb}_${kind}`, 'Message for the caller', options)
}
