// Turns an event into the texts of a chat message, before a chat service lays it out.
import { currencyExponent } from '@paylog/domain/money'

/** The facts of a chat message; `null` means unknown. Every text may be untrusted input. */
export type ChatNotice = {
  /** The event's name as sent: `payment.succeeded`, `stripe:invoice.paid`. */
  readonly event: string
  readonly provider: string
  /** Time of the event, ISO 8601. */
  readonly timestamp: string
  readonly amount_cents: number | null
  /** Upper case. */
  readonly currency: string | null
  /** An e-mail if known, else an id. */
  readonly customer: string | null
  readonly status: string | null
  /** Our payment id, or the provider's id of a foreign payment. */
  readonly payment_id: string | null
  readonly is_test: boolean
}

/** The texts of a notice. Unknown facts are undefined. */
export type ChatMessage = {
  /** Only letters, digits and single spaces, plus the colon of `Test: `, so that no service sees markup in it. */
  readonly title: string
  readonly tone: 'good' | 'bad' | 'neutral'
  /** Only digits, a point, a minus sign and letters. */
  readonly amount: string | undefined
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
  readonly name: 'Amount' | 'Customer' | 'Status' | 'Payment' | 'Time' | 'Provider'
  /** Must be escaped. */
  readonly text: string
}

/**
 * The maximum length of an e-mail address. Five texts of this length, with every character escaped, are within the limits of
 * all services.
 */
const maxTextLength = 320
const maxTitleLength = 120

/** Includes invisible characters and those that change the text direction. */
const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu

const badWords = /\b(failed|cancell?ed|declined|denied|deleted|expired|unpaid|voided|suspended)\b/
const goodWords = /\b(succeeded|activated|extended|paid|completed|captured|active)\b/

/** Converts a notice to texts. */
export function chatMessage(chatNotice: ChatNotice): ChatMessage {
  const words = titleWords(titledEvent(chatNotice))
  const time = new Date(chatNotice.timestamp)
  return {
    title: `${chatNotice.is_test ? 'Test: ' : ''}${words}`,
    tone: badWords.test(words.toLowerCase()) ? 'bad' : goodWords.test(words.toLowerCase()) ? 'good' : 'neutral',
    amount: chatNotice.amount_cents === null ? undefined : amountText(chatNotice.amount_cents, chatNotice.currency),
    customer: oneLine(chatNotice.customer),
    status: oneLine(chatNotice.status),
    payment: oneLine(chatNotice.payment_id),
    time: Number.isNaN(time.getTime()) ? undefined : time,
    provider: oneLine(chatNotice.provider),
    event: oneLine(chatNotice.event) ?? '',
  }
}

/** The known facts, most important first. */
export function chatFields({ amount, customer, status, payment, time, provider }: ChatMessage): readonly ChatField[] {
  const facts = [
    { name: 'Amount', text: amount },
    { name: 'Customer', text: customer },
    { name: 'Status', text: status },
    { name: 'Payment', text: payment },
    { name: 'Time', text: time === undefined ? undefined : timeText(time) },
    { name: 'Provider', text: provider },
  ] as const
  return facts.flatMap(({ name, text }) => (text === undefined ? [] : [{ name, text }]))
}

/** `2026-01-02 03:04:05 UTC` */
export function timeText(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** There is no canonical name for a canceled payment: it is sent as payment.failed with another title. */
function titledEvent({ event, status }: ChatNotice): string {
  return event === 'payment.failed' && status === 'canceled' ? 'payment.canceled' : event
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

/** `22.00 USD`. An unknown currency means that the provider's account has only one; we assume two decimals. */
function amountText(cents: number, currency: string | null): string {
  const code = currency !== null && /^[A-Z]{3}$/.test(currency) ? currency : undefined
  const exponent = code === undefined ? 2 : currencyExponent(code)
  const digits = String(Math.abs(cents)).padStart(exponent + 1, '0')
  const units = exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`
  return [`${cents < 0 ? '-' : ''}${units}`, ...(code === undefined ? [] : [code])].join(' ')
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
