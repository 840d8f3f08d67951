// Saves methods on a real event store, at an in-process provider whose tokens are its method ids.
import { randomUUIDv7 } from 'node:crypto'
import { type Guest, ownerOf, recordedOwner, type Session } from '@paylog/domain/actor'
import { defaultChoiceFold } from '@paylog/domain/defaultChoice'
import { requestInFlightMs } from '@paylog/domain/idempotentRequest'
import type { PaymentMethod } from '@paylog/domain/payment-methods/paymentMethod'
import { noRights } from '@paylog/domain/rights'
import type { EventStore } from '@paylog/event-store/eventStore'
import { defaultChoiceStream } from '@paylog/event-store/streamName'
import type { Test } from 'tap'
import type { Workflow } from '../context.ts'
import { listId } from '../defaults.ts'
import { changeSavedMethod, removeSavedMethod } from '../payment-methods/changeSavedMethod.ts'
import { loadMethod, paymentMethodId } from '../payment-methods/savedMethod.ts'
import { replaySaved, type SavePaymentMethod, savePaymentMethod } from '../payment-methods/savePaymentMethod.ts'
import { earlierRequest } from '../request/idempotentRequests.ts'
import { createFakeProvider } from './fakeProvider.ts'
import { metadata, workflowHarness } from './workflowHarness.ts'

export type Caller = Session | Guest

export const newUser = (user_email: string | null = null): Session => ({
  kind: 'session',
  user_id: randomUUIDv7(),
  user_type: 'user',
  user_email,
  ...noRights,
})

export const newGuest = (guest_email = `${randomUUIDv7()}@example.com`): Guest => ({
  kind: 'guest',
  guest_email,
  token_hash: randomUUIDv7(),
})

const defaultOptions = {
  type: null,
  wallet_type: null,
  organization_id: null,
  alias: null,
  billing_address_id: null,
  billing_details: null,
  is_default: false,
}

export async function savedMethodHarness(t: Test) {
  const { provider, fake } = createFakeProvider(t, { id: 'vault' })
  const { workflow, store, ...log } = await workflowHarness(t, provider)

  type Target = { readonly by: Caller; readonly token: string; readonly on?: Workflow }
  type Check = { readonly checkRevision?: (revision: bigint | 'no_stream') => void }
  const idOf = (token: string) => paymentMethodId(provider.id, token)
  const targetOf = ({ by, token }: Target) => ({
    id: idOf(token),
    owner: ownerOf(by),
    checkRevision: () => undefined,
    checkBody: () => undefined,
    metadata,
  })

  return {
    ...log,
    workflow,
    store,
    fake,
    idOf,
    newToken: () => `pm_${randomUUIDv7()}`,
    async save(
      { by, token, on = workflow }: Target,
      { is_default = false, ...more }: Partial<SavePaymentMethod> & { readonly is_default?: boolean } = {},
    ) {
      const request = {
        request_id: randomUUIDv7(),
        request_fingerprint: null,
        caller: by,
        owner: ownerOf(by),
        inFlightMs: requestInFlightMs,
        provider_id: provider.id,
        token,
        options: { ...defaultOptions, is_default },
        metadata,
        ...more,
      }
      const earlier = await earlierRequest(on, request)
      return earlier.recorded ? replaySaved(on, request, earlier.recorded) : savePaymentMethod(on, request, earlier)
    },
    change: (target: Target, changes: Check & { readonly is_default?: boolean; readonly alias?: string }) =>
      changeSavedMethod(target.on ?? workflow, {
        ...targetOf(target),
        ...changes,
      }),
    remove: (target: Target, check: Check = {}) =>
      removeSavedMethod(target.on ?? workflow, { ...targetOf(target), ...check }),
    async stateOf(token: string): Promise<PaymentMethod> {
      const { state } = await loadMethod(workflow, idOf(token))
      if (state.status === 'none') throw new Error(`no saved method for ${token}`)
      return state
    },
    /** The token of the method that the owner's list shows as the default, or none. */
    async defaultOf(by: Caller, tokens: readonly string[]): Promise<string | undefined> {
      const owner = ownerOf(by)
      const list = defaultChoiceStream(listId(store, { list: 'payment_methods', owner }))
      const { state: chosen } = await store.load(list, defaultChoiceFold)
      const token = tokens.find((each) => idOf(each) === chosen)
      if (token === undefined) return undefined
      const { state } = await loadMethod(workflow, idOf(token))
      return state.status === 'saved' && recordedOwner(state) === owner ? token : undefined
    },
  }
}

/** A workflow whose store runs `act` right after its first read of a stream. */
export function interleaved(workflow: Workflow, stream: string, act: () => Promise<unknown>): Workflow {
  const { store } = workflow
  let hasRun = false
  const load: EventStore['load'] = async (name, fold, until) => {
    const loaded = await store.load(name, fold, until)
    if (name === stream && !hasRun) {
      hasRun = true
      await act()
    }
    return loaded
  }
  return { ...workflow, store: { ...store, load } }
}
