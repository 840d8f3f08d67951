// Turns an event into the texts of a chat message, before a chat service lays it out.
import type { NamedFacts } from '../webhookFacts.ts'
import { amountText, detailsText, timeText, titledEvent } from './chatDetails.ts'

/** The texts of a message. Unknown facts are undefined. */
export type ChatMessage = {
  /** Only letters, digits and single spaces, plus the colon of `Test: `, so that no service sees markup in it. */
  readonly title: string
  readonly tone: 'good' | 'bad' | 'neutral'
  /** Only digits, a point, a minus sign and letters. */
  readonly amount: string | undefined
  /** A sentence about a refund, a dispute, or what needs attention: untrusted text, on one line. */
  readonly details: string | undefined
  /** Untrusted text, on one line. */
  readonly customer: string | undefined
  /** Untrusted text, on one line. */
  readonly status: string | undefined
  /** The payment's id: untrusted text, because it may come from a provider. */
  readonly payment: string | undefined
  readonly time: Date | undefined
  /** Untrusted text, on one line. */
  readonly provider: string | undefined
  readonly event: string
}

export type ChatField = {
  readonly name: 'Details' | 'Amount' | 'Customer' | 'Status' | 'Payment' | 'Time' | 'Provider'
  /** Must be escaped. */
  readonly text: string
}

/**
 * The maximum length of an e-mail address. Six texts of this length, with every character escaped, are within the limits of
 * all services.
 */
const maxTextLength = 320
const maxTitleLength = 120

/** Includes invisible characters and those that change the text direction. */
const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu

const badWords =
  /\b(failed|cancell?ed|declined|denied|deleted|expired|unpaid|voided|suspended|disputed|lost|attention)\b/
const goodWords = /\b(succeeded|activated|extended|paid|completed|captured|active|won)\b/

/** Converts facts to texts. */
export function chatMessage(facts: NamedFacts): ChatMessage {
  const { event, provider, timestamp, payment_id, amount, currency, status, user, is_test } = facts
  const words = titleWords(titledEvent(facts))
  const time = new Date(timestamp)
  return {
    title: `${is_test ? 'Test: ' : ''}${words}`,
    tone: badWords.test(words.toLowerCase()) ? 'bad' : goodWords.test(words.toLowerCase()) ? 'good' : 'neutral',
    amount: amount === null ? undefined : amountText(amount, currency),
    details: oneLine(detailsText(facts)),
    customer: oneLine(user.email ?? user.id),
    status: oneLine(status),
    payment: oneLine(payment_id),
    time: Number.isNaN(time.getTime()) ? undefined : time,
    provider: oneLine(provider),
    event: oneLine(event) ?? '',
  }
}

/** The known facts, most important first. */
export function chatFields(message: ChatMessage): readonly ChatField[] {
  const { details, amount, customer, status, payment, time, provider } = message
  const fields = [
    { name: 'Details', text: details },
    { name: 'Amount', text: amount },
    { name: 'Customer', text: customer },
    { name: 'Status', text: status },
    { name: 'Payment', text: payment },
    { name: 'Time', text: time === undefined ? undefined : timeText(time) },
    { name: 'Provider', text: provider },
  ] as const
  return fields.flatMap(({ name, text }) => (text === undefined ? [] : [{ name, text }]))
}

/** `stripe:payment_intent.succeeded` as "Payment intent succeeded". */
function titleWords(event: string): string {
  const words = event
    .toWellFormed()
    .replace(/^[a-z-]+:(net\.authorize\.)?/, '')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase()
  const cut = cutTo(words, maxTitleLength, '').trimEnd()
  // Changing the case of some letters adds combining marks.
  const title = `${cut.charAt(0).toUpperCase()}${cut.slice(1)}`.replace(/\p{M}/gu, '')
  return title === '' ? 'Event' : title
}

/** One line of visible text, cut to the maximum length; undefined when nothing is left. */
function oneLine(text: string | null): string | undefined {
  const line = (text ?? '').toWellFormed().replaceAll(controls, ' ').replaceAll(/\s+/g, ' ').trim()
  return line === '' ? undefined : cutTo(line, maxTextLength, '…')
}

/** Cuts to a length in UTF-16 units without splitting a surrogate pair. */
function cutTo(text: string, maxLength: number, mark: string): string {
  if (text.length <= maxLength) return text
  const cut = text.slice(0, maxLength - mark.length)
  return `${cut.isWellFormed() ? cut : cut.slice(0, -1)}${mark}`
}
