// Why something is done, in the words of whoever does it, for the audit trail.
import { TextInput } from '@mantine/core'
import { maxReasonLength } from '@paylog/domain/reason'
import { type ReactNode, useState } from 'react'

/** The header of a request with this reason; none for an empty one. */
export function reasonHeader(reason: string): { readonly 'x-reason'?: string } {
  const text = reason.trim().toWellFormed()
  return text === '' ? {} : { 'x-reason': encodeURIComponent(text) }
}

/** A field for the reason, and its text. */
export function useReason(): { readonly reason: string; readonly reasonField: ReactNode } {
  const [reason, setReason] = useState('')
  const reasonField = (
    <TextInput
      label="Reason for the audit trail"
      description="Optional. No personal data of payers: it stays when they are erased"
      maxLength={maxReasonLength}
      value={reason}
      onChange={({ currentTarget }) => setReason(currentTarget.value)}
    />
  )
  return { reason, reasonField }
}
