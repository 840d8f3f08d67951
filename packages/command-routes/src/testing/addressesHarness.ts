// The address routes under test: callers, requests over HTTP, and recorded state.
import { type AddressResource, addressFold, existingAddress } from '@paylog/domain/addresses/address'
import type { AddressType } from '@paylog/domain/addresses/events'
import { addressStream } from '@paylog/event-store/streamName'
import type { Test } from 'tap'
import { type ApiResponse, ada, commandApiHarness, type Headers } from './commandApiHarness.ts'

/** The demo guest, with the e-mail in other case. */
export const sameGuest = { 'x-guest-token': 'same-guest-token' }
export const otherGuest = { 'x-guest-token': 'other-guest-token' }
/** A guest with a user's e-mail. */
export const adaAsGuest = { 'x-guest-token': 'ada-guest-token' }
/** Two guests whose e-mails would be equal by Unicode case folding. */
export const kelvinGuest = { 'x-guest-token': 'kelvin-guest-token' }
export const plainGuest = { 'x-guest-token': 'plain-guest-token' }

const guestTokens = [
  { token: 'same-guest-token', email: 'GUEST@Example.com', name: 'Guest Example', expires_at: null },
  { token: 'other-guest-token', email: 'other@example.com', name: 'Other Example', expires_at: null },
  { token: 'ada-guest-token', email: 'ada@example.com', name: 'Ada Example', expires_at: null },
  { token: 'kelvin-guest-token', email: '\u212aim@example.com', name: 'Kim Example', expires_at: null },
  { token: 'plain-guest-token', email: 'kim@example.com', name: 'Kim Example', expires_at: null },
]

const place = { line1: '1 Sample Street', city: 'Berlin', country: 'DE' }
export const billing = { address_type: 'billing', ...place }
export const shipping = { address_type: 'shipping', ...place }

export type AddressResponse = ApiResponse<AddressResource>

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
    /** The addresses of a type marked as default, and the one that a list shows: the marked one with the highest number. */
    async defaultOf(ids: readonly string[], type: AddressType) {
      const states = await Promise.all(ids.map(stateOf))
      const list = states.filter((state) => state.status !== 'none' && state.address_type === type)
      const numbers = list.map((state) => (state.status === 'none' ? -1 : (state.default_choice ?? -1)))
      const defaults = list.filter((state) => state.status === 'kept' && state.is_default).map(existingAddress)
      return {
        marked: defaults.map(({ address_id }) => address_id),
        shown: defaults
          .filter(({ default_choice }) => default_choice === Math.max(...numbers))
          .map(({ address_id }) => address_id),
      }
    },
  }
}
