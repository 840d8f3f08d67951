// How the address routes answer.
import { type AddressState, kept } from '@paylog/domain/addresses/address'
import { AddressResource, addressResource } from '@paylog/domain/addresses/resource'
import type { Loaded } from '@paylog/event-store/eventStore'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { exampleContent } from './addressBody.ts'

const created = '2026-01-31T12:00:00.000Z'

export const AddressAnswer = Type.Object(
  { success: Type.Literal(true), data: AddressResource },
  {
    description: 'The address, with its revision as ETag',
    examples: [
      {
        success: true,
        data: {
          id: '018f0000-0000-7000-8000-000000000001',
          user_id: '00000000-0000-4000-8000-000000000001',
          guest_email: null,
          organization_id: null,
          ...exampleContent,
          is_partial: false,
          is_business: false,
          business_name: null,
          tax_id: null,
          tax_id_type: null,
          phone: null,
          email: null,
          alias: null,
          guest_name: null,
          is_default: true,
          created_at: created,
          updated_at: created,
        },
      },
    ],
  },
)

export const DeletedAnswer = Type.Object(
  { success: Type.Literal(true), data: Type.Object({ id: Type.String(), deleted: Type.Literal(true) }) },
  { description: 'The address is gone' },
)

/** With the ETag of the revision that it shows. */
export function addressAnswer({ state, revision, position }: Loaded<AddressState>, reply: FastifyReply) {
  if (!position) throw new Error('An address without events')
  reply.header('x-event-position', position.commit.toString()).header('etag', `"${revision}"`)
  return { success: true as const, data: addressResource(kept(state)) }
}

export function deletedAnswer({ state, position }: Loaded<AddressState>, reply: FastifyReply) {
  if (state.status === 'none' || !position) throw new Error('An address without events')
  reply.header('x-event-position', position.commit.toString())
  return { success: true as const, data: { id: state.address_id, deleted: true as const } }
}
