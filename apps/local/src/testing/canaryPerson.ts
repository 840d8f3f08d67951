// A made-up person whose every personal text contains one word, so that it can be searched for everywhere.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

export const word = 'quxcanary'
const Word = 'Quxcanary'

export const userId = '00000000-0000-4000-8000-0000000000c1'
export const userEmail = `${word}.user@example.com`
export const guestEmail = `${word}.guest@example.com`
export const sessionId = 'session-of-the-canary'
export const guestToken = 'token-of-the-canary'

export const canarySession = {
  session_id: sessionId,
  user: { id: userId, email: userEmail, name: `${Word} User`, userType: 'user' },
  expires_at: null,
}
export const canaryToken = { token: guestToken, email: guestEmail, name: `${Word} Guest`, expires_at: null }

export const address = {
  address_type: 'billing',
  ...{
    name: `${Word} Name`,
    line1: `${Word} Street 1`,
    line2: `${word} floor`,
    city: `${Word}ville`,
    state: `${word} state`,
  },
  ...{ postal_code: `${word}1`, country: 'DE', phone: `+49 ${word}`, email: `${word}.contact@example.com` },
  ...{ business_name: `${Word} Ltd`, tax_id: `${word}-tax`, tax_id_type: 'eu_vat', alias: `${word} home` },
}

export const texts = {
  description: `Two tickets for ${Word}`,
  concept: `${word} concept`,
  reference_code: `${word}-reference`,
  category: `${word} category`,
  tags: `${word},tag`,
  metadata: { note: `of ${Word}`, [`${word}_key`]: 1 },
  return_url: `https://shop.example.com/${word}/thanks`,
  cancel_url: `https://shop.example.com/${word}/cart`,
}

export const method = {
  payment_method_token: 'pm_card_visa',
  provider_id: 'sandbox',
  alias: `${word} card`,
  billing_details: {
    name: `${Word} Name`,
    email: `${word}.billing@example.com`,
    phone: `+49 ${word}`,
    address: { line1: `${Word} Street 1`, city: `${Word}ville`, country: 'DE', postal_code: '10115' },
  },
}

const pattern = new RegExp(word, 'i')

/** Whether the word is in these bytes. UTF-8 keeps ASCII as it is. */
export const isIn = (bytes: Uint8Array) => pattern.test(Buffer.from(bytes).toString('latin1'))

/** The files under a directory that contain the word. A file that disappears meanwhile is none. */
export function filesWithWord(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => {
      try {
        return statSync(path).isFile() && isIn(readFileSync(path))
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
        throw error
      }
    })
}
