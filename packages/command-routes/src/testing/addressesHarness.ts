// The address routes as a test sees them: several owners, requests over HTTP, and what is on record afterwards.
import { type AddressResource, addressFold, existingAddress } from '@paylog/domain/addresses/address'
import type { AddressType } from '@paylog/domain/addresses/events'
import { addressStream } from '@paylog/event-store/streamName'
import type { Test } from 'tap'
import { type ApiResponse, ada, commandApiHarness, type Headers } from './commandApiHarness.ts'

/** The same guest as the identity backend may write him another time. */
export const sameGuest = { 'x-guest-token': 'same-guest-token' }
export const otherGuest = { 'x-guest-token': 'other-guest-token' }
/** A guest whose e-mail is that of a user. */
export const adaAsGuest = { 'x-guest-token': 'ada-guest-token' }
/** Two guests, if upper and lower case were those of Unicode the same one. */
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
  const parts = await commandApiHarness(t, { guestTokens, ...options })
  const { send, store } = parts
  const post = (body?: unknown, headers: Headers = ada) => send<AddressResource>('POST', '/addresses', headers, body)
  const stateOf = async (id: string) => (await store.load(addressStream(id), addressFold)).state

  return {
    ...parts,
    post,
    put: (id: string, body?: unknown, headers: Headers = ada) =>
      send<AddressResource>('PUT', `/addresses/${id}`, headers, body),
    remove: (id: string, headers: Headers = ada, body?: unknown) =>
      send<AddressResource>('DELETE', `/addresses/${id}`, headers, body),
    /** Adds an address that the test needs to be there. @returns its id */
    async addressOf(headers: Headers, body: object = billing) {
      const { status, data, text } = await post(body, headers)
      if (status !== 201) throw new Error(text)
      return data.id
    },
    stateOf,
    eventsOf: (id: string) => store.readStream(addressStream(id)),
    /** Which of these a list would show as the default of a type: whoever says so and carries the highest number. */
    async defaultOf(ids: readonly string[], type: AddressType) {
      const states = await Promise.all(ids.map(stateOf))
      const list = states.filter((state) => state.status !== 'none' && state.address_type === type)
      const numbers = list.map((state) => (state.status === 'none' ? -1 : (state.default_choice ?? -1)))
      const saying = list.filter((state) => state.status === 'kept' && state.is_default).map(existingAddress)
      return {
        says: saying.map(({ address_id }) => address_id),
        shown: saying
          .filter(({ default_choice }) => default_choice === Math.max(...numbers))
          .map(({ address_id }) => address_id),
      }
    },
  }
}
