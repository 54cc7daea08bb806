// Requests to the API, with the word that shows that they come from a page of this service.
const csrf = document.querySelector("meta[name=csrf]").content;

export class Problem extends Error {}

export async function send(method, path, body) {
  const headers = { "X-CSRF-Token": csrf, "Content-Type": "application/json" };
  if (method === "POST") headers["Idempotency-Key"] = crypto.randomUUID();
  const options = { method, headers, credentials: "same-origin" };
  if (method !== "GET") options.body = JSON.stringify(body ?? {});
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Problem("The service does not answer. See that it runs, then try again.");
  }
  if (answer.status === 401) location.assign("/login");
  const found = await answer.json().catch(() => ({}));
  if (answer.ok) return found;
  const parts = [found.detail ?? `status ${answer.status}`];
  if (found.allowed) parts.push(`allowed: ${found.allowed}`);
  if (found.remedy) parts.push(`what to do: ${found.remedy}`);
  throw new Problem(parts.join("; "));
}
