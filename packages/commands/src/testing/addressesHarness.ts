// The address routes under test: callers, requests over HTTP, and recorded state.
import { type AddressResource, addressFold } from '@paylog/domain/addresses/address'
import type { AddressType } from '@paylog/domain/addresses/events'
import { defaultChoiceFold } from '@paylog/domain/defaultChoice'
import { addressStream, defaultChoiceStream } from '@paylog/event-store/streamName'
import type { Test } from 'tap'
import { listId } from '../defaults.ts'
import { ada, commandApiHarness, type Headers } from './commandApiHarness.ts'

/** The demo guest, with the e-mail in other case. */
export const sameGuest = { 'x-guest-token': 'same-guest-token' }
/** By Unicode case folding the e-mail would equal another guest's. */
export const kelvinGuest = { 'x-guest-token': 'kelvin-guest-token' }

const guestTokens = [
  { token: 'same-guest-token', email: 'GUEST@Example.com', name: 'Guest Example', expires_at: null },
  { token: 'kelvin-guest-token', email: '\u212aim@example.com', name: 'Kim Example', expires_at: null },
]

const place = { line1: '1 Sample Street', city: 'Berlin', country: 'DE' }
export const billing = { address_type: 'billing', ...place }
export const shipping = { address_type: 'shipping', ...place }

export async function addressesHarness(t: Test, options: Parameters<typeof commandApiHarness>[1] = {}) {
  const api = await commandApiHarness(t, { guestTokens, ...options })
  const { send, store } = api
  const post = (body?: unknown, headers: Headers = ada) => send<AddressResource>('POST', '/addresses', headers, body)
  const stateOf = async (id: string) => (await store.load(addressStream(id), addressFold)).state

  return {
    ...api,
    post,
    put: (id: string, body?: unknown, headers: Headers = ada) =>
      send<AddressResource>('PUT', `/addresses/${id}`, headers, body),
    remove: (id: string, headers: Headers = ada, body?: unknown) =>
      send<AddressResource>('DELETE', `/addresses/${id}`, headers, body),
    /** Adds an address. @returns its id */
    async addressOf(headers: Headers, body: object = billing) {
      const { status, data, text } = await post(body, headers)
      if (status !== 201) throw new Error(text)
      return data.id
    },
    stateOf,
    eventsOf: (id: string) => store.readStream(addressStream(id)),
    /** The id of the address that an owner's list of a type shows as the default, or none. */
    async defaultOf(owner: string, type: AddressType): Promise<string | undefined> {
      const list = defaultChoiceStream(listId(store, { list: `${type}_addresses`, owner }))
      const { state: id } = await store.load(list, defaultChoiceFold)
      const state = id === null ? addressFold.initialState : await stateOf(id)
      return state.status === 'kept' && state.address_type === type ? state.address_id : undefined
    },
  }
}
